#pragma once
// Control groups that limit the number of processes: the only limit that also binds root.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sandbox/unique_fd.hpp"

namespace kerf {

/// Empty control groups kept for reuse, since making one costs more than joining it. Thread-safe.
class PidsCgroups {
 public:
  struct Group {
    std::string folder;
    UniqueFd procs;    ///< cgroup.procs, open for writing: "0" moves the writer
    UniqueFd members;  ///< the same, open for reading
    int limit = -1;
  };

  PidsCgroups();   ///< looks for a pids controller (version 1 or 2) in which we may make groups
  ~PidsCgroups();  ///< removes the groups that are empty
  PidsCgroups(const PidsCgroups&) = delete;
  PidsCgroups& operator=(const PidsCgroups&) = delete;

  bool available() const { return !parent_.empty(); }
  std::unique_ptr<Group> acquire(int limit);              ///< null when none can be had
  void release(std::unique_ptr<Group> group);             ///< its processes must be gone
  static void kill_all(const Group& group);               ///< SIGKILL until nothing is left in it
  static std::vector<int> processes(const Group& group);  ///< in it, those outside our process namespace left out

 private:
  std::unique_ptr<Group> make_group();

  std::mutex mutex_;
  std::string parent_;                        // constant after construction
  std::vector<std::unique_ptr<Group>> free_;  // guarded by mutex_
  int made_ = 0;                              // guarded by mutex_
};

}  // namespace kerf
