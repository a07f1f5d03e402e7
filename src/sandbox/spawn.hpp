#pragma once
// Starts one process behind all walls. Memory is shared with the child until exec (as vfork), so the cost does not grow
// with the caller's memory; everything the child needs is therefore made ready beforehand and it makes only system
// calls.

#include <linux/filter.h>
#include <sys/resource.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "sandbox/unique_fd.hpp"

namespace kerf {

struct SpawnPlan {
  std::vector<std::string> argv;         ///< argv[0] is the path of the program
  std::vector<std::string> environment;  ///< "NAME=value"
  std::string folder;
  std::vector<std::pair<int, int>> fds;  ///< (ours, number in the child); all others are closed
  std::vector<std::pair<int, rlimit>> limits;
  int namespaces = 0;              ///< CLONE_NEW* flags
  bool drop_capabilities = false;  ///< for root without a user namespace
  int cgroup_fd = -1;              ///< cgroup.procs to join
  int landlock_fd = -1;
  const std::vector<sock_filter>* filter = nullptr;
};

struct Spawned {
  int pid = -1;
  UniqueFd pidfd;
};

/// The child is killed when the calling *thread* ends, so call it from one that lives long enough. The error names the
/// step that failed.
Result<Spawned> spawn(const SpawnPlan& plan);

/// True when a child can be made in these namespaces; runs one that exits at once.
bool namespaces_work(int flags);

}  // namespace kerf
