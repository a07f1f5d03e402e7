#include "propose/synth/capabilities.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kerf::synth {

const std::vector<std::string>& known_capabilities() {
  static const std::vector<std::string> words{"runs_on_host", "sub_groups", "matrix_units", "warpgroup_matrix_units",
                                              "async_copy"};
  return words;
}

bool has_capability(const codegen::DialectTraits& dialect, const DeviceFacts& facts, std::string_view word) {
  if (word == "runs_on_host") return dialect.host_entry || facts.runs_on_host;
  return dialect.features.find(fmt::format(" {} ", word)) != std::string_view::npos &&
         std::find(facts.lacks.begin(), facts.lacks.end(), word) == facts.lacks.end();
}

bool meets(const codegen::DialectTraits& dialect, const DeviceFacts& facts, const std::vector<std::string>& needs) {
  return std::all_of(needs.begin(), needs.end(), [&](const std::string& need) {
    const bool negated = need.starts_with('!');
    return has_capability(dialect, facts, negated ? std::string_view(need).substr(1) : need) != negated;
  });
}

}  // namespace kerf::synth
