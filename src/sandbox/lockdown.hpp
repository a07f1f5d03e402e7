#pragma once
// What a worker does to itself before and after it loads a candidate's code. The two stages stack: the second filter
// only takes away. Nothing can be given back.

#include <cstdint>
#include <string>
#include <utility>
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

  std::vector<std::string> also_allowed =
      {};  ///< further system calls by name, for drivers; only before the last stage

  /// Code, as [begin, end) of addresses, whose instructions make no system call at all: what was loaded there can
  /// compute and call libraries, and nothing else.
  std::vector<std::pair<const void*, const void*>> fenced = {};
};

/// Exit status of a process that made a refused system call.
inline constexpr int kForbiddenExit = 117;

/// Applies the filter to all threads of this process and asks the kernel whether it holds: a filter that somebody
/// vetoed or answered for is an error (Errc::io), which a worker must not survive. In the first stage nobody but this
/// function can install a further filter. Before that the C library is made to ask the system what it would ask later:
/// honest code that allocates in many threads or sorts is not stopped for it. Errc::unavailable only when the kernel
/// has no seccomp at all.
Status lock_down(const LockdownPolicy& policy);

/// Memory of a process that tells when and where it runs, as pairs of addresses.
struct Surroundings {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> clock_pages;  ///< the kernel's, readable without a system call
  std::vector<std::pair<std::uint64_t, std::uint64_t>> words;        ///< arguments and environment
};

/// Of a process that has been started, seen from outside: inside, its files are out of reach. Best effort.
Surroundings surroundings_of(int pid);

/// Takes them away from the calling process: clock pages are unmapped, words emptied, and time-stamp counters trap.
/// Libraries that read a clock afterwards crash, so it comes after everything that needs one, and before the first
/// stage. What the system does not offer is left out.
void hide_surroundings(const Surroundings& surroundings);

/// "openat" for 257 on x86-64; the number in digits when unknown.
std::string system_call_name(int number);

}  // namespace kerf
