#include "bench/watched_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>

#include "sandbox/spawn.hpp"
#include "sandbox/unique_fd.hpp"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kKeptErr = 8000;         ///< bytes
constexpr std::size_t kLongestLine = 1 << 16;  ///< of stdout; longer ones are cut
constexpr std::chrono::milliseconds kLook{500};

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Errc::io, "cannot make a pipe");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// What can be read now; false at the end.
bool read_some(const UniqueFd& fd, std::string& into) {
  char buffer[8192];
  for (;;) {
    const ssize_t got = ::read(fd.number(), buffer, sizeof buffer);
    if (got > 0) {
      into.append(buffer, static_cast<std::size_t>(got));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    return got < 0 && errno == EAGAIN;
  }
}

void give_lines(std::string& buffer, const std::function<void(const std::string&)>& give) {
  for (std::size_t end = 0; (end = buffer.find('\n')) != std::string::npos; buffer.erase(0, end + 1))
    if (give) give(buffer.substr(0, end));
  if (buffer.size() > kLongestLine) buffer.clear();
}

int parent_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');  // names may hold anything
  if (name_end == std::string::npos) return -1;
  std::istringstream rest(text.substr(name_end + 1));
  std::string state;
  int parent = -1;
  rest >> state >> parent;
  return parent;
}

/// Shared pages are counted once over all processes that have them.
std::int64_t memory_of(int pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::ifstream rollup(folder + "/smaps_rollup");
  for (std::string line; std::getline(rollup, line);)
    if (line.starts_with("Pss:")) return std::stoll(line.substr(4)) * 1024;
  std::ifstream statm(folder + "/statm");
  std::int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

class Watch {
 public:
  Watch(const WatchedCommand& command, Spawned child) : command_(command), child_(std::move(child)) {}

  /// Looks after the process until it has ended.
  WatchedOutcome until_end(const UniqueFd& out, const UniqueFd& err) {
    std::string lines;
    bool out_open = true, err_open = true;
    for (SteadyClock::time_point looked = begin_; !reap(false);) {
      pollfd fds[] = {{out_open ? out.number() : -1, POLLIN, 0},
                      {err_open ? err.number() : -1, POLLIN, 0},
                      {child_.pidfd.number(), POLLIN, 0}};
      ::poll(fds, 3, 100);
      if (out_open) out_open = read_some(out, lines);
      if (err_open) err_open = read_some(err, outcome_.err);
      keep_end();
      give_lines(lines, command_.on_line);
      const auto now = SteadyClock::now();
      if (now - looked >= kLook) {
        looked = now;
        look_at_memory();
      }
      look_at_time(now);
    }
    read_some(out, lines);
    read_some(err, outcome_.err);
    keep_end();
    give_lines(lines, command_.on_line);
    return outcome_;
  }

 private:
  void kill_all() { ::kill(child_.pid, SIGKILL); }
  void keep_end() {
    if (outcome_.err.size() > kKeptErr) outcome_.err.erase(0, outcome_.err.size() - kKeptErr);
  }

  void look_at_memory() {
    const std::int64_t now = memory_of_tree(child_.pid);
    outcome_.peak_memory_bytes = std::max(outcome_.peak_memory_bytes, now);
    if (command_.most_memory_bytes <= 0 || now <= command_.most_memory_bytes) return;
    outcome_.out_of_memory = true;
    kill_all();
  }

  void look_at_time(SteadyClock::time_point now) {
    const auto after = [](double seconds) { return std::chrono::duration<double>(seconds); };
    if (now - begin_ > after(command_.most_seconds) && !outcome_.timed_out) {
      outcome_.timed_out = true;
      kill_all();
    }
    if (command_.stop == nullptr || !*command_.stop) return;
    if (!outcome_.stopped) {
      outcome_.stopped = true;
      asked_ = now;
      ::kill(child_.pid, SIGINT);
    } else if (now - asked_ > after(command_.grace_seconds)) {
      kill_all();
    }
  }

  bool reap(bool wait) {
    int status = 0;
    const pid_t got = ::waitpid(child_.pid, &status, wait ? 0 : WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return false;
    outcome_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    outcome_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return true;
  }

  const WatchedCommand& command_;
  Spawned child_;
  const SteadyClock::time_point begin_ = SteadyClock::now();
  SteadyClock::time_point asked_;
  WatchedOutcome outcome_;
};

}  // namespace

std::int64_t memory_of_tree(int root) {
  std::map<int, int> parents;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    int pid = 0;
    const auto [last, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad == std::errc() && last == name.data() + name.size()) parents[pid] = parent_of(pid);
  }
  if (!parents.contains(root)) return 0;
  std::int64_t sum = 0;
  for (const auto& [pid, parent] : parents) {
    int at = pid;
    for (int steps = 0; at > 1 && at != root && steps < 64; ++steps) {
      const auto found = parents.find(at);
      at = found == parents.end() ? 0 : found->second;
    }
    if (at == root) sum += memory_of(pid);
  }
  return sum;
}

Result<WatchedOutcome> run_watched(const WatchedCommand& command) {
  KERF_TRY(Pipe out, make_pipe());
  KERF_TRY(Pipe err, make_pipe());
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing) return fail(Errc::io, "cannot open /dev/null");
  SpawnPlan plan;
  plan.argv = command.argv;
  for (const auto& [name, value] : command.environment) plan.environment.push_back(name + "=" + value);
  plan.fds = {{nothing.number(), 0}, {out.write.number(), 1}, {err.write.number(), 2}};
  KERF_TRY(Spawned child, spawn(plan));  // killed with this thread, which waits for it
  out.write.reset();
  err.write.reset();
  return Watch(command, std::move(child)).until_end(out.read, err.read);
}

}  // namespace kerf::bench
