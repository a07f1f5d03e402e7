#include "sandbox/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "base/file.hpp"

namespace kerf {
namespace {

constexpr std::string_view kCut = "\n[output cut here]\n";

Result<std::pair<UniqueFd, UniqueFd>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Errc::io, fmt::format("pipe: {}", std::strerror(errno)));
  return std::pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

// Reads what is there, a bounded amount: a process that writes without end must not hold up the clock. False at the end
// of the stream. Beyond `limit` bytes are dropped, once with a note.
bool take(int fd, std::string& into, std::int64_t limit) {
  char chunk[16384];
  for (int round = 0; round < 64; ++round) {
    const ssize_t count = ::read(fd, chunk, sizeof chunk);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    const auto room =
        static_cast<std::size_t>(std::max<std::int64_t>(0, limit - static_cast<std::int64_t>(into.size())));
    const auto kept = std::min(room, static_cast<std::size_t>(count));
    into.append(chunk, kept);
    if (room > 0 && kept < static_cast<std::size_t>(count)) into.append(kCut);
  }
  return true;
}

// Stopped or ended: the letter after the name in /proc/PID/stat.
bool is_stopped(int pid) {
  const std::string stat = read_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return true;  // gone
  return std::string_view("TtZX").find(stat[name_end + 2]) != std::string_view::npos;
}

// Input lies in a memory file, so nobody has to feed a pipe. No input is a socket whose other end is closed: unlike a
// file it cannot be opened again by name (/dev/stdin).
Result<UniqueFd> make_input(const std::string& text) {
  if (text.empty()) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return fail(Errc::io, fmt::format("standard input: {}", std::strerror(errno)));
    ::close(ends[1]);
    return UniqueFd(ends[0]);
  }
  UniqueFd file(::memfd_create("kerf-stdin", MFD_CLOEXEC));
  if (!file) return fail(Errc::io, fmt::format("standard input: {}", std::strerror(errno)));
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file.number(), text.data() + done, text.size() - done);
    if (count < 0) return fail(Errc::io, fmt::format("standard input: {}", std::strerror(errno)));
    done += static_cast<std::size_t>(count);
  }
  ::lseek(file.number(), 0, SEEK_SET);
  return file;
}

}  // namespace

Result<ProcessPipes> ProcessPipes::make(bool drop_when_full, const std::string& input) {
  ProcessPipes pipes;
  KERF_TRY(auto out, make_pipe());
  KERF_TRY(auto err, make_pipe());
  KERF_TRY(pipes.child_in, make_input(input));
  std::tie(pipes.out, pipes.child_out) = std::move(out);
  std::tie(pipes.err, pipes.child_err) = std::move(err);
  set_nonblocking(pipes.out.number());
  set_nonblocking(pipes.err.number());
  if (drop_when_full) {
    set_nonblocking(pipes.child_out.number());
    set_nonblocking(pipes.child_err.number());
  }
  return pipes;
}

void ProcessPipes::close_child_ends() {
  child_in.reset();
  child_out.reset();
  child_err.reset();
}

RunningProcess::RunningProcess(Spawned spawned, ProcessPipes pipes, PidsCgroups& groups,
                               std::unique_ptr<PidsCgroups::Group> group, bool own_pid_namespace,
                               std::int64_t max_output_bytes, std::chrono::steady_clock::time_point begin)
    : spawned_(std::move(spawned)),
      pipes_(std::move(pipes)),
      groups_(groups),
      group_(std::move(group)),
      own_pid_namespace_(own_pid_namespace),
      max_output_bytes_(max_output_bytes),
      begin_(begin) {}

RunningProcess::~RunningProcess() { kill_and_wait(); }

void RunningProcess::record_end(int status, std::int64_t max_rss_kib) {
  ended_ = true;
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
  if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
  outcome_.max_rss_bytes = max_rss_kib * 1024;
  outcome_.wall_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
}

bool RunningProcess::reap(bool wait) {
  if (ended_) return true;
  siginfo_t event{};
  int rc = 0;
  do {
    rc = ::waitid(P_PID, static_cast<id_t>(spawned_.pid), &event, WEXITED | WNOWAIT | (wait ? 0 : WNOHANG));
  } while (rc != 0 && errno == EINTR);
  if (rc != 0 || event.si_pid != spawned_.pid) return false;
  // Before the process id is free for others: end who stayed behind. With a process namespace the kernel has done it.
  if (!own_pid_namespace_) ::kill(-spawned_.pid, SIGKILL);
  int status = 0;
  struct rusage usage{};
  while (::wait4(spawned_.pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  record_end(status, usage.ru_maxrss);
  if (!own_pid_namespace_ && group_) PidsCgroups::kill_all(*group_);
  groups_.release(std::move(group_));
  return true;
}

void RunningProcess::drain() {
  if (pipes_.out) take(pipes_.out.number(), outcome_.out, max_output_bytes_);
  if (pipes_.err) take(pipes_.err.number(), outcome_.err, max_output_bytes_);
}

bool RunningProcess::alive() { return !reap(false); }

Status RunningProcess::freeze() {
  if (ended_) return fail(Errc::unavailable, "the process has ended");
  // It leads a process group of its own, so this reaches what it started and did not move elsewhere.
  if (::kill(-spawned_.pid, SIGSTOP) != 0 && ::kill(spawned_.pid, SIGSTOP) != 0)
    return fail(Errc::io, fmt::format("stopping: {}", std::strerror(errno)));
  siginfo_t event{};
  int rc = 0;
  do {
    rc = ::waitid(P_PID, static_cast<id_t>(spawned_.pid), &event, WSTOPPED | WEXITED | WNOWAIT);
  } while (rc != 0 && errno == EINTR);
  if (rc != 0) return fail(Errc::io, fmt::format("waiting for a stop: {}", std::strerror(errno)));
  if (event.si_code != CLD_STOPPED) {
    reap(true);
    return fail(Errc::unavailable, "the process has ended");
  }
  ::waitid(P_PID, static_cast<id_t>(spawned_.pid), &event, WSTOPPED | WNOHANG);  // takes the event
  return freeze_others();
}

// Whatever else lies in its control group; where there is none, the signal to the group has to do.
Status RunningProcess::freeze_others() {
  if (!group_) return {};
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    bool all_stopped = true;
    for (const int pid : PidsCgroups::processes(*group_)) {
      if (pid == spawned_.pid) continue;
      if (std::ranges::find(frozen_, pid) == frozen_.end()) frozen_.push_back(pid);
      if (is_stopped(pid)) continue;
      ::kill(pid, SIGSTOP);
      all_stopped = false;
    }
    if (all_stopped) return {};
    ::usleep(100);
  }
  return fail(Errc::io, "a process that the worker started does not stop");
}

Status RunningProcess::thaw() {
  if (ended_) return fail(Errc::unavailable, "the process has ended");
  for (const int pid : frozen_) ::kill(pid, SIGCONT);
  frozen_.clear();
  if (::kill(-spawned_.pid, SIGCONT) != 0 && ::kill(spawned_.pid, SIGCONT) != 0)
    return fail(Errc::io, fmt::format("resuming: {}", std::strerror(errno)));
  return {};
}

ProcessOutcome RunningProcess::kill_and_wait() {
  if (!ended_) {
    ::kill(-spawned_.pid, SIGKILL);
    ::kill(spawned_.pid, SIGKILL);
    reap(true);
  }
  drain();
  return outcome_;
}

ProcessOutcome RunningProcess::collect(std::chrono::milliseconds wall) {
  const auto deadline = begin_ + wall;
  for (bool out_open = true, err_open = true;;) {
    int timeout = -1;
    if (wall.count() > 0) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
      if (left <= 0) {
        outcome_.timed_out = true;
        return kill_and_wait();
      }
      timeout = static_cast<int>(std::min<std::int64_t>(left, 1 << 30));
    }
    pollfd waits[3] = {{spawned_.pidfd.number(), POLLIN, 0},
                       {out_open ? pipes_.out.number() : -1, POLLIN, 0},
                       {err_open ? pipes_.err.number() : -1, POLLIN, 0}};
    if (::poll(waits, 3, timeout) < 0 && errno != EINTR) return kill_and_wait();
    if (waits[1].revents != 0) out_open = take(pipes_.out.number(), outcome_.out, max_output_bytes_);
    if (waits[2].revents != 0) err_open = take(pipes_.err.number(), outcome_.err, max_output_bytes_);
    if (waits[0].revents != 0 && reap(false)) {
      drain();
      return outcome_;
    }
  }
}

}  // namespace kerf
