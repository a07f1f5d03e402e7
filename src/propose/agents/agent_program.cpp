#include "propose/agents/agent_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/printable.hpp"

namespace kerf::agents {
namespace {

constexpr std::size_t kKeptOutput = 64u << 10;
constexpr int kPollMs = 50;

void keep(std::string& output, const char* data, std::size_t size) {
  output.append(data, size);
  if (output.size() > 2 * kKeptOutput) output.erase(0, output.size() - kKeptOutput);
}

/// What can be read now; false at the end.
bool drain(int pipe, std::string& output) {
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(pipe, buffer, sizeof buffer);
    if (got > 0) keep(output, buffer, static_cast<std::size_t>(got));
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
  }
}

/// The started shell, or 0.
pid_t spawn(const std::string& command, const std::filesystem::path& folder,
            const std::map<std::string, std::string>& environment, int out) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : environment) entries.push_back(name + "=" + value);
  std::vector<char*> variables;
  for (std::string& entry : entries) variables.push_back(entry.data());
  variables.push_back(nullptr);
  std::string shell = "sh", flag = "-c", text = command;
  char* const arguments[] = {shell.data(), flag.data(), text.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, 1);
  ::posix_spawn_file_actions_adddup2(&actions, out, 2);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return failed == 0 ? child : 0;
}

}  // namespace

Result<ProgramEnd> run_program(const std::string& command, const std::filesystem::path& folder,
                               const std::map<std::string, std::string>& environment, std::chrono::milliseconds limit,
                               const std::atomic<bool>& cancelled) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    return fail(Errc::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  ::fcntl(pipe[1], F_SETFL, 0);  // programs do not expect their output to be refused
  const auto began = std::chrono::steady_clock::now();
  const pid_t child = spawn(command, folder, environment, pipe[1]);
  ::close(pipe[1]);
  if (child == 0) {
    ::close(pipe[0]);
    return fail(Errc::tool_failed, "cannot start /bin/sh for the agent's command");
  }
  ProgramEnd end;
  int status = 0;
  for (bool open = true;;) {
    if (open) {
      pollfd wanted{pipe[0], POLLIN, 0};
      ::poll(&wanted, 1, kPollMs);
      open = drain(pipe[0], end.output);
    } else {
      ::poll(nullptr, 0, kPollMs);
    }
    if (::waitpid(child, &status, WNOHANG) == child) break;
    end.timed_out = std::chrono::steady_clock::now() - began > limit;
    end.cancelled = cancelled;
    if (!end.timed_out && !end.cancelled) continue;
    ::kill(-child, SIGKILL);
    ::waitpid(child, &status, 0);
    break;
  }
  ::kill(-child, SIGKILL);  // what it left running
  drain(pipe[0], end.output);
  ::close(pipe[0]);
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (end.output.size() > kKeptOutput) end.output.erase(0, end.output.size() - kKeptOutput);
  end.output = valid_utf8(end.output);
  end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return end;
}

}  // namespace kerf::agents
