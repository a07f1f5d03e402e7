#pragma once
// The command line: arguments to commands to exit codes.

#include <string>
#include <vector>

#include "app/cli/environment.hpp"

namespace kerf::cli {

inline constexpr int kJudged = 0;           ///< done, whatever the verdict
inline constexpr int kEnvironment = 1;      ///< a compiler, device or file system failed
inline constexpr int kMisuse = 2;           ///< bad arguments, task or kernel file
inline constexpr int kSpeedNotChecked = 3;  ///< prove --check: right here, its speed could not be checked

/// Runs the program with `args` (without its own name).
int run(const std::vector<std::string>& args, const Environment& environment, Console& console);

}  // namespace kerf::cli
