#include "memory/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"

namespace kerf::memory {
namespace {

constexpr double kDeadBand = 0.02;           // of log speed: closer than timings tell apart
constexpr double kLeastOfRight = -1 + 1e-6;  // refine reward: above that of refused kernels, however slow it is
constexpr double kShrinkage = 4;             // uses at which a family's residual counts for half
constexpr double kLeastDeviation = 0.1;      // of rewards
constexpr double kMostDeviations = 3;        // of a scaled reward
constexpr double kPublishedRate = 0.3;       // that of a sibling system; the paper gives none
constexpr double kLeastRate = 0.05, kFirstRate = 0.3;
constexpr std::array<std::string_view, 3> kRules{"kerf", "published", "similar"};
constexpr std::array<std::string_view, kValueStages.size()> kStageNames{"draft", "refine", "draft_shown",
                                                                        "refine_shown"};

double right_fraction(const WrongResult& wrong) {
  if (!wrong.evidence || wrong.evidence->total <= 0) return 0;
  return std::clamp(1 - static_cast<double>(wrong.evidence->wrong) / static_cast<double>(wrong.evidence->total), 0.0,
                    1.0);
}

}  // namespace

std::string_view rule_name(Rule rule) { return kRules[static_cast<std::size_t>(rule)]; }

Result<Rule> rule_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kRules.size(); ++i)
    if (kRules[i] == name) return static_cast<Rule>(i);
  const std::vector<std::string> names(kRules.begin(), kRules.end());
  return fail(Errc::invalid_input, fmt::format("unknown memory rule '{}'{}; choose one of: {}", name,
                                               did_you_mean(name, names), join(names, ", ")));
}

std::string_view value_stage_name(ValueStage stage) { return kStageNames[static_cast<std::size_t>(stage)]; }

Result<ValueStage> value_stage_from_name(std::string_view name) {
  for (const ValueStage stage : kValueStages)
    if (value_stage_name(stage) == name) return stage;
  return fail(Errc::invalid_input, fmt::format("unknown stage '{}'", name));
}

double StageValue::of(const std::string& family) const {
  const auto found = residuals.find(family);
  if (found == residuals.end()) return all.mean;
  const Value& residual = found->second;
  return all.mean + residual.count / (residual.count + kShrinkage) * residual.mean;
}

void Moments::add(double reward) {
  count += 1;
  const double from_old = reward - mean;
  mean += from_old / count;
  squares += from_old * (reward - mean);
}

double Moments::deviation() const {
  return count < 2 ? 1 : std::max(kLeastDeviation, std::sqrt(std::max(0.0, squares / (count - 1))));
}

double draft_reward(const Outcome& outcome, Rule rule) {
  if (std::holds_alternative<Measurement>(outcome)) return 1;
  if (rule == Rule::published || std::holds_alternative<Rejected>(outcome)) return -1;
  if (std::holds_alternative<BuildFailed>(outcome)) return -0.8;
  const auto* wrong = std::get_if<WrongResult>(&outcome);
  if (wrong == nullptr) return -0.5;
  return wrong->evidence ? -0.3 + 0.3 * right_fraction(*wrong) : -0.4;
}

double refine_reward(double speed, double best, Rule rule) {
  if (!(speed > 0)) return -1;
  if (!(best > 0)) return 0;
  const double gain = std::log(speed) - std::log(best);
  if (rule != Rule::published && std::abs(gain) < kDeadBand) return 0;
  return std::max(std::tanh(gain), kLeastOfRight);
}

double scaled_reward(double reward, const Moments& before, Rule rule) {
  if (rule != Rule::published) return reward;
  return std::clamp((reward - before.mean) / before.deviation(), -kMostDeviations, kMostDeviations);
}

void learn(StageValue& value, const std::string& family, double reward, Rule rule) {
  const auto move = [&](Value& one, double towards) {
    const double rate = rule == Rule::published ? kPublishedRate : std::max(kLeastRate, kFirstRate / (1 + one.count));
    one.mean += rate * (towards - one.mean);
    one.count += 1;
  };
  const double difference = reward - value.all.mean;
  move(value.all, reward);
  if (rule != Rule::published) move(value.residuals[family], difference);
}

}  // namespace kerf::memory
