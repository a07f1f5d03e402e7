#include "worker/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace kerf::worker {
namespace {

constexpr std::chrono::milliseconds kSendLimit{10000};
constexpr std::chrono::milliseconds kExitGrace{500};  // for a process that closed its end to finish exiting

std::vector<std::string> arguments(const Command& command) {
  std::vector<std::string> argv{command.self.string(), "worker", command.kind};
  argv.insert(argv.end(), command.args.begin(), command.args.end());
  return argv;
}

std::string how_it_ended(int exit_code, int signal, std::string_view words) {
  std::string text = signal != 0 ? fmt::format("ended by signal {} ({})", signal, ::strsignal(signal))
                                 : fmt::format("ended with exit code {}", exit_code);
  const auto trimmed = trim(words);
  if (!trimmed.empty())
    text += fmt::format(": {}", trimmed.substr(trimmed.size() - std::min<std::size_t>(trimmed.size(), 2000)));
  return text;
}

/// What both ways of starting share: the link, and asking how the process ended once the link is dead.
class LinkedProcess : public Process {
 public:
  explicit LinkedProcess(Link link) : link_(std::move(link)) {}

  Status send(std::string_view payload, int passed_descriptor) override {
    if (link_.descriptor() < 0) return fail(Errc::unavailable, ended_);
    auto sent = link_.send(payload, passed_descriptor, kSendLimit);
    if (!sent && sent.error().code == Errc::unavailable) return fail(Errc::unavailable, finish(kExitGrace));
    return sent;
  }

  Result<std::string> receive(std::chrono::milliseconds limit) override {
    if (link_.descriptor() < 0) return fail(Errc::unavailable, ended_);
    auto message = link_.receive(limit);
    if (!message && message.error().code == Errc::unavailable) return fail(Errc::unavailable, finish(kExitGrace));
    return message;
  }

  void kill() override { finish(std::chrono::milliseconds(0)); }

 protected:
  /// Waits up to `grace` for the process to end, kills it then, reaps it, and says how it ended. Called once.
  virtual std::string end(std::chrono::milliseconds grace) = 0;

 private:
  const std::string& finish(std::chrono::milliseconds grace) {
    if (link_.descriptor() >= 0) {
      ended_ = end(grace);
      link_ = Link(-1);
    }
    return ended_;
  }

  Link link_;
  std::string ended_ = "ended";
};

class PlainProcess final : public LinkedProcess {
 public:
  PlainProcess(Link link, pid_t pid, int words) : LinkedProcess(std::move(link)), pid_(pid), words_(words) {}
  ~PlainProcess() override {
    kill();
    ::close(words_);
  }

 protected:
  std::string end(std::chrono::milliseconds grace) override {
    constexpr std::chrono::milliseconds kStep{2};
    int status = 0;
    pid_t reaped = ::waitpid(pid_, &status, WNOHANG);
    for (; reaped == 0 && grace > std::chrono::milliseconds(0); grace -= kStep) {
      std::this_thread::sleep_for(kStep);
      reaped = ::waitpid(pid_, &status, WNOHANG);
    }
    if (reaped == 0) {
      ::kill(-pid_, SIGKILL);  // the whole group: the process leads one
      do {
        reaped = ::waitpid(pid_, &status, 0);
      } while (reaped < 0 && errno == EINTR);
    }
    return how_it_ended(WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                        words());
  }

 private:
  std::string words() const {
    std::string text(4096, '\0');
    const off_t size = ::lseek(words_, 0, SEEK_END);
    const ssize_t count = ::pread(words_, text.data(), text.size(), std::max<off_t>(0, size - 4096));
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }

  pid_t pid_;
  int words_;  // memfd that is the process's stderr
};

class SandboxedProcess final : public LinkedProcess {
 public:
  SandboxedProcess(Link link, std::unique_ptr<SandboxProcess> process)
      : LinkedProcess(std::move(link)), process_(std::move(process)) {}
  ~SandboxedProcess() override { kill(); }

 protected:
  std::string end(std::chrono::milliseconds grace) override {
    constexpr std::chrono::milliseconds kStep{2};
    for (; process_->alive() && grace > std::chrono::milliseconds(0); grace -= kStep)
      std::this_thread::sleep_for(kStep);
    const ProcessOutcome outcome = process_->kill_and_wait();
    return how_it_ended(outcome.exit_code, outcome.signal, outcome.err);
  }

 private:
  std::unique_ptr<SandboxProcess> process_;
};

std::vector<char*> c_strings(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (auto& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Result<std::unique_ptr<Process>> start_plain(const Command& command, Link ours, const Link& theirs) {
  const int words = ::memfd_create("kerf-worker-stderr", MFD_CLOEXEC);
  if (words < 0) return fail(Errc::io, fmt::format("memfd_create: {}", std::strerror(errno)));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, words, 2);
  posix_spawn_file_actions_adddup2(&files, theirs.descriptor(), kWorkerDescriptor);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  auto argv = arguments(command);
  std::vector<std::string> environment;
  for (const auto& [name, value] : command.environment) environment.push_back(name + "=" + value);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, command.self.c_str(), &files, &attributes, c_strings(argv).data(),
                                  c_strings(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    ::close(words);
    return fail(Errc::unavailable, fmt::format("cannot start {}: {}", command.self.string(), std::strerror(error)));
  }
  return std::make_unique<PlainProcess>(std::move(ours), pid, words);
}

Result<std::unique_ptr<Process>> start_sandboxed(const Command& command, Link ours, const Link& theirs) {
  SandboxCommand sandboxed;
  sandboxed.argv = arguments(command);
  sandboxed.environment = command.environment;
  sandboxed.readable = command.readable;
  sandboxed.readable.push_back(command.self);
  sandboxed.writable = command.writable;
  sandboxed.restrict_files = command.restrict_files;
  sandboxed.pass_fds = {{theirs.descriptor(), kWorkerDescriptor}};
  sandboxed.limits.wall = std::chrono::milliseconds(0);  // each request has its own limit
  sandboxed.limits.processes = command.processes;
  KERF_TRY(auto process, command.sandbox->start(sandboxed));
  return std::make_unique<SandboxedProcess>(std::move(ours), std::move(process));
}

}  // namespace

Result<std::unique_ptr<Process>> Process::start(const Command& command) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(Errc::io, fmt::format("socketpair: {}", std::strerror(errno)));
  }
  Link ours(ends[0]);
  // A child that dup2()s a descriptor onto itself would keep close-on-exec; the number is moved out of the way.
  const int moved = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 64);
  ::close(ends[1]);
  if (moved < 0) return fail(Errc::io, fmt::format("fcntl: {}", std::strerror(errno)));
  const Link theirs(moved);
  return command.sandbox ? start_sandboxed(command, std::move(ours), theirs)
                         : start_plain(command, std::move(ours), theirs);
}

}  // namespace kerf::worker
