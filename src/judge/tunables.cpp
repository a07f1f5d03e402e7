#include "judge/tunables.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace kerf {
namespace {

std::string nearest_value(const std::vector<std::int64_t>& values, std::int64_t given) {
  const auto distance = [&](std::int64_t value) {
    return std::fabs(static_cast<double>(value) - static_cast<double>(given));
  };
  const auto best = std::ranges::min_element(values, {}, distance);
  return best == values.end() ? "" : fmt::format(" (the nearest is {})", *best);
}

}  // namespace

Result<Bindings> resolve_tunables(const Candidate& candidate, const Bindings& given, TunableValues allowed) {
  Bindings all;
  std::vector<std::string> names;
  for (const Tunable& tunable : candidate.tunables) {
    all[tunable.name] = tunable.values.front();
    names.push_back(tunable.name);
  }
  for (const auto& [name, value] : given) {
    const auto tunable = std::find_if(candidate.tunables.begin(), candidate.tunables.end(),
                                      [&name = name](const Tunable& t) { return t.name == name; });
    if (tunable == candidate.tunables.end())
      return fail(Errc::invalid_input,
                  fmt::format("{} has no tunable '{}'{}; choose one of: {}", candidate.name, name,
                              did_you_mean(name, names), names.empty() ? "none" : join(names, ", ")));
    if (allowed == TunableValues::declared &&
        std::find(tunable->values.begin(), tunable->values.end(), value) == tunable->values.end())
      return fail(Errc::invalid_input,
                  fmt::format("{}: tunable '{}' has no value {}{}; choose one of: {}", candidate.name, name, value,
                              nearest_value(tunable->values, value), fmt::join(tunable->values, ", ")));
    all[name] = value;
  }
  return all;
}

}  // namespace kerf
