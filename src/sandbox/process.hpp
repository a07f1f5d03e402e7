#pragma once
// A process that was spawned: its pipes, its end, and the end of everything it started.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/pids_cgroup.hpp"
#include "sandbox/sandbox.hpp"
#include "sandbox/spawn.hpp"

namespace kerf {

struct ProcessPipes {
  UniqueFd child_in, child_out, child_err;  ///< ends for the child
  UniqueFd out, err;                        ///< ours, non-blocking

  /// `drop_when_full`: the child's writes fail instead of blocking when nobody reads.
  static Result<ProcessPipes> make(bool drop_when_full, const std::string& input);
  void close_child_ends();
};

class RunningProcess final : public SandboxProcess {
 public:
  RunningProcess(Spawned spawned, ProcessPipes pipes, PidsCgroups& groups, std::unique_ptr<PidsCgroups::Group> group,
                 bool own_pid_namespace, std::int64_t max_output_bytes, std::chrono::steady_clock::time_point begin);
  ~RunningProcess() override;

  int pid() const override { return spawned_.pid; }
  bool alive() override;
  Status freeze() override;
  Status thaw() override;
  ProcessOutcome kill_and_wait() override;

  /// Reads the pipes until the process ends or `wall` (0: no limit) is over.
  ProcessOutcome collect(std::chrono::milliseconds wall);

 private:
  void record_end(int status, std::int64_t max_rss_kib);
  bool reap(bool wait);
  Status freeze_others();
  void drain();

  Spawned spawned_;
  ProcessPipes pipes_;
  PidsCgroups& groups_;
  std::unique_ptr<PidsCgroups::Group> group_;
  bool own_pid_namespace_;
  std::int64_t max_output_bytes_;
  std::chrono::steady_clock::time_point begin_;
  ProcessOutcome outcome_;
  bool ended_ = false;
  std::vector<int> frozen_;  // processes beside the first that were stopped with it
};

}  // namespace kerf
