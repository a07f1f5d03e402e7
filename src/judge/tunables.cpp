#include "judge/tunables.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace kerf {

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
      return fail(Errc::invalid_input, fmt::format("{}: tunable '{}' has no value {}; choose one of: {}",
                                                   candidate.name, name, value, fmt::join(tunable->values, ", ")));
    all[name] = value;
  }
  return all;
}

}  // namespace kerf
