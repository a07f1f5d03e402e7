#pragma once
// File rules of a sandboxed process, by Landlock.

#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "sandbox/unique_fd.hpp"

namespace kerf {

/// The kernel's Landlock ABI; 0 when it has none or it is switched off.
int landlock_version();

struct FileRules {
  std::vector<std::filesystem::path> readable;  ///< read and execute; paths that do not exist are left out
  std::vector<std::filesystem::path> writable;  ///< read, write, create, remove
  bool network = false;                         ///< TCP bind and connect (ABI 4)
};

/// A ruleset descriptor for landlock_restrict_self; also forbids signals and abstract sockets out of the sandbox (ABI
/// 6). Includes the system's libraries, compilers and the harmless device files.
Result<UniqueFd> make_landlock_ruleset(const FileRules& rules, int version);

}  // namespace kerf
