#pragma once
// What a worker does to itself before and after it loads a candidate's code. The two stages stack: the second filter
// only takes away. Nothing can be given back.

#include <string>
#include <vector>

#include "base/result.hpp"

namespace kerf {

struct LockdownPolicy {
  enum class Stage {
    loading,    ///< computing, and opening, reading and mapping files for dlopen (which files, Landlock decides)
    computing,  ///< arithmetic, memory, threads of this process, futexes; nothing else
  };
  Stage stage = Stage::computing;

  /// Called in the SIGSYS handler, on whatever thread made the call, with the number of a refused system call; must be
  /// async-signal-safe. The process then ends with status kForbiddenExit. Null: it just ends.
  void (*on_forbidden)(int system_call) = nullptr;

  std::vector<std::string> also_allowed;  ///< further system calls by name, for drivers; only before the last stage
};

/// Exit status of a process that made a refused system call.
inline constexpr int kForbiddenExit = 117;

/// Applies the filter to all threads of this process. unavailable when the kernel has no seccomp.
Status lock_down(const LockdownPolicy& policy);

/// Refuses every system call made by the instructions in [begin, end): code that was loaded there can compute and call
/// libraries, and nothing else. Comes between the two stages.
Status forbid_calls_from(const void* begin, const void* end);

/// "openat" for 257 on x86-64; the number in digits when unknown.
std::string system_call_name(int number);

}  // namespace kerf
