#pragma once
// What test programs hand to targets as the user's environment.

#include <map>
#include <string>
#include <string_view>

#include "target/target.hpp"

extern char** environ;

namespace kerf {

/// The variables that some target reads, and those that every compiler needs.
inline std::map<std::string, std::string> target_environment() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (name == "PATH" || name == "HOME" || name == "LD_LIBRARY_PATH" || is_target_variable(name))
      found.emplace(name, text.substr(equals + 1));
  }
  return found;
}

}  // namespace kerf
