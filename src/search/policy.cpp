#include "search/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "search/bandit.hpp"
#include "search/selection.hpp"

namespace kerf {
namespace {

constexpr int kInspirations = 2;
/// Several short beginnings before the best is deepened: after so many steps every second one starts afresh.
constexpr double kFreshStarts = 2;
constexpr double kLargestGain = 2;  // a factor of 7: more says nothing about the operation

/// An operation that starts afresh, any number of times.
bool restarts(const OperationInfo& operation) { return !operation.needs_parent && operation.name != kStartOperation; }

/// Indices of the operations that can be asked for with what the archive holds; "start" is for the first stage only.
std::vector<std::size_t> possible(const Archive& archive, const std::vector<Operation>& operations, bool with_restart) {
  const std::size_t elites = archive.elites().size();
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const OperationInfo& operation = operations[i].info;
    if (operation.name == kStartOperation || (restarts(operation) && !with_restart)) continue;
    if ((operation.needs_parent && elites < 1) || (operation.needs_partner && elites < 2)) continue;
    kept.push_back(i);
  }
  return kept;
}

double log_speedup(const Step& step) { return fitness_of(step.evaluation).log_speedup; }
bool is_measured(const Step& step) { return std::holds_alternative<Measurement>(step.evaluation.outcome); }

class KerfPolicy final : public Policy {
 public:
  void observe(const Observed& observed) override {
    const Step& step = observed.step;
    if (is_measured(step))
      if (const auto* shape = main_shape(std::get<Measurement>(step.evaluation.outcome));
          shape && shape->speed_of_light)
        bound_[step.number] = shape->speed_of_light->bound;
    if (!step.cell.empty()) cell_[step.number] = step.cell;
    if (step.stage != Stage::search) return;
    ++searched_;
    if (!step.provenance.prompt.empty()) {
      int& repeats = repeats_[step.proposer + "/" + step.operation];
      repeats = is_duplicate(step) ? repeats + 1 : 0;
    }
    double gain = 0;
    if (is_measured(step)) {
      const auto over = observed.parent_log_speedup ? observed.parent_log_speedup : observed.best_log_speedup;
      if (over) gain = log_speedup(step) - *over;
      // Improving a weak parent is worth less than improving the best.
      if (observed.best_log_speedup)
        gain = 0.3 * std::max(gain, 0.0) + std::max(log_speedup(step) - *observed.best_log_speedup, 0.0);
    }
    operations_.observe(step.proposer + "/" + step.operation, std::clamp(gain, 0.0, kLargestGain), observed.seconds);
    const auto direction = direction_from_text(step.direction);
    if (direction && !step.parents.empty())
      if (const auto from = cell_.find(step.parents.front()); from != cell_.end())
        directions_.observe(from->second, *direction, observed.decision.kept && gain > 0);
  }

  std::optional<Choice> choose(const Archive& archive, const std::vector<Operation>& operations, Rng& rng) override {
    const auto allowed = without_repeats(possible(archive, operations, true), operations, rng);
    if (allowed.empty()) return std::nullopt;
    std::vector<std::string> arms;
    for (const std::size_t i : allowed) arms.push_back(operations[i].arm());
    Choice choice;
    choice.operation = allowed[operations_.choose(arms, rng)];
    if (rng.chance(kFreshStarts / (kFreshStarts + searched_)))
      for (const std::size_t i : allowed)
        if (restarts(operations[i].info)) choice.operation = i;
    if (!operations[choice.operation].info.needs_parent) return choice;
    const Elite* parent = draw_parent(archive, rng);
    choice.parent = parent->step;
    choice.inspirations = draw_partners(archive, *parent, kInspirations, rng);
    const auto bound = bound_.find(parent->step);
    choice.direction = directions_.choose(parent->cell, bound == bound_.end() ? "" : bound->second, rng);
    return choice;
  }

 private:
  /// What a model was asked for and answered with known kernels is asked for half as often after each of them in a row,
  /// where there is something else to ask for: such an answer costs as much as a new one.
  std::vector<std::size_t> without_repeats(const std::vector<std::size_t>& allowed,
                                           const std::vector<Operation>& operations, Rng& rng) const {
    std::vector<std::size_t> kept;
    for (const std::size_t i : allowed) {
      const auto found = repeats_.find(operations[i].arm());
      if (found == repeats_.end() || found->second == 0 || rng.chance(std::pow(0.5, found->second))) kept.push_back(i);
    }
    return kept.empty() ? allowed : kept;
  }

  int searched_ = 0;                    // steps
  std::map<std::string, int> repeats_;  // known kernels in a row, by arm; of models only
  OperationBandit operations_;
  DirectionBandit directions_;
  std::map<std::int64_t, std::string> bound_;  // profile verdict by step
  std::map<std::int64_t, Cell> cell_;
};

/// As released: fitness is the raw speedup, one elite a cell and island, no regard to noise.
class PublishedPolicy final : public Policy {
 public:
  void observe(const Observed& observed) override {
    const Step& step = observed.step;
    if (!is_measured(step) || step.stage == Stage::final) return;
    place(current_, {step.number, step.cell, std::exp(log_speedup(step))});
    if (++inserts_ % kRotation != 0) return;
    migrate();
    current_ = (current_ + 1) % kIslands;
  }

  std::optional<Choice> choose(const Archive& archive, const std::vector<Operation>& operations, Rng& rng) override {
    const auto allowed = possible(archive, operations, archive.elites().empty());
    if (allowed.empty()) return std::nullopt;
    Choice choice;
    choice.operation = allowed[index(allowed.size(), rng)];
    if (!operations[choice.operation].info.needs_parent) return choice;
    const auto all = members({});
    const auto here = islands_[current_].empty() ? all : members(current_);
    const double u = rng.uniform();
    std::vector<double> speedups;
    for (const Member& member : here) speedups.push_back(member.speedup);
    const Member parent = u < 0.7   ? here[draw_softmax(speedups, 1.0, rng)]
                          : u < 0.9 ? here[index(here.size(), rng)]
                                    : all[index(all.size(), rng)];
    choice.parent = parent.step;
    std::vector<Member> others;
    for (const Member& member : all)
      if (member.step != parent.step) others.push_back(member);
    for (int i = 0; i < kInspirations && !others.empty(); ++i) {
      const std::size_t at = index(others.size(), rng);
      choice.inspirations.push_back(others[at].step);
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
    }
    const auto dimension = static_cast<int>(rng.integer(0, kDimensions - 1));
    if (parent.cell[static_cast<std::size_t>(dimension)] + 1 < kLevels) choice.direction = Direction{dimension, 1};
    if (operations[choice.operation].info.needs_partner && choice.inspirations.empty()) return std::nullopt;
    return choice;
  }

 private:
  static constexpr std::size_t kIslands = 4;
  static constexpr int kRotation = 10;  // inserts between migrations
  struct Member {
    std::int64_t step = 0;
    Cell cell;
    double speedup = 0;
  };

  static std::size_t index(std::size_t count, Rng& rng) {
    return static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(count) - 1));
  }
  void place(std::size_t island, const Member& member) {
    auto [at, fresh] = islands_[island].emplace(member.cell, member);
    if (!fresh && member.speedup > at->second.speedup) at->second = member;
  }
  void migrate() {
    std::vector<Member> travellers(kIslands);
    for (std::size_t i = 0; i < kIslands; ++i)
      for (const auto& [cell, member] : islands_[i])
        if (member.speedup > travellers[i].speedup) travellers[i] = member;
    for (std::size_t i = 0; i < kIslands; ++i)
      if (travellers[i].step != 0) place((i + 1) % kIslands, travellers[i]);
  }
  std::vector<Member> members(std::optional<std::size_t> island) const {
    std::vector<Member> found;
    for (std::size_t i = 0; i < kIslands; ++i)
      if (!island || *island == i)
        for (const auto& [cell, member] : islands_[i]) found.push_back(member);
    return found;
  }

  std::map<Cell, Member> islands_[kIslands];
  std::size_t current_ = 0;
  int inserts_ = 0;
};

class RandomPolicy final : public Policy {
 public:
  void observe(const Observed&) override {}
  bool wants_starts() const override { return false; }
  std::optional<Choice> choose(const Archive&, const std::vector<Operation>& operations, Rng& rng) override {
    std::vector<std::size_t> allowed;
    for (std::size_t i = 0; i < operations.size(); ++i)
      if (restarts(operations[i].info)) allowed.push_back(i);
    if (allowed.empty()) return std::nullopt;
    Choice choice;
    choice.operation = allowed[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(allowed.size()) - 1))];
    return choice;
  }
};

}  // namespace

std::vector<std::string> policy_names() { return {"kerf", "published", "random"}; }

Result<std::unique_ptr<Policy>> make_policy(const std::string& name) {
  if (name == "kerf") return std::make_unique<KerfPolicy>();
  if (name == "published") return std::make_unique<PublishedPolicy>();
  if (name == "random") return std::make_unique<RandomPolicy>();
  return fail(Errc::invalid_input, fmt::format("unknown search '{}'{}; choose one of: {}", name,
                                               did_you_mean(name, policy_names()), join(policy_names(), ", ")));
}

}  // namespace kerf
