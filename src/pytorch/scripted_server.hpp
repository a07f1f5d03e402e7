#pragma once
// A bridge server without Python, for tests: answers questions as its script says.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/sandbox.hpp"
#include "sandbox/unique_fd.hpp"

namespace kerf::pytorch::test {

/// A process that is over when told so.
class NoProcess final : public SandboxProcess {
 public:
  int pid() const override { return 0; }
  bool alive() override { return false; }
  Status freeze() override { return {}; }
  Status thaw() override { return {}; }
  ProcessOutcome kill_and_wait() override { return {}; }
};

/// Plays the server on the socket that the command passes, in a thread.
class ScriptedServer final : public Sandbox {
 public:
  /// What becomes of one question; an empty object: the server dies.
  std::function<nlohmann::json(const nlohmann::json& asked)> play;
  std::map<std::string, std::string> first_lines;  ///< by program; none: it is ready
  int started = 0;

  /// Whether the question that waits for this file was cancelled.
  bool cancelled(const std::string& wait_for) {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(cancelled_, wait_for) != cancelled_.end();
  }

  ~ScriptedServer() override {
    for (auto& thread : threads_) thread.join();
  }
  Result<ProcessOutcome> run(const SandboxCommand&) override { return fail(Errc::unavailable, "runs nothing"); }
  Result<std::unique_ptr<SandboxProcess>> start(const SandboxCommand& command) override {
    ++started;
    EXPECT_EQ(command.argv.at(5), "--serve");
    const auto first = first_lines.find(command.argv.front());
    threads_.emplace_back(&ScriptedServer::serve, this, ::dup(command.pass_fds.at(0).first),
                          first == first_lines.end() ? R"({"ready": true, "torch": "1.13"})" : first->second);
    return std::unique_ptr<SandboxProcess>(std::make_unique<NoProcess>());
  }

 private:
  void serve(int socket, const std::string& first) {
    const UniqueFd owner(socket);
    std::string text = first + "\n", rest;
    for (;;) {
      if (!text.empty() && ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) < 0) return;
      while (rest.find('\n') == std::string::npos) {
        char buffer[1024];
        const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
        if (got <= 0) return;
        rest.append(buffer, static_cast<std::size_t>(got));
      }
      const nlohmann::json asked = take_line(rest);
      text.clear();
      if (note_cancelled(asked)) continue;
      // A question may be cancelled while it is being answered.
      auto played = std::async(std::launch::async, [&] { return play(asked); });
      while (played.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
        char buffer[1024];
        const ssize_t got = ::recv(socket, buffer, sizeof buffer, MSG_DONTWAIT);
        if (got > 0) rest.append(buffer, static_cast<std::size_t>(got));
        const std::size_t line = rest.find('\n');
        if (line != std::string::npos && note_cancelled(nlohmann::json::parse(rest.substr(0, line)))) take_line(rest);
      }
      nlohmann::json end = played.get();
      if (end.empty()) return;
      end["id"] = asked["id"];
      text = end.dump() + "\n";
    }
  }
  static nlohmann::json take_line(std::string& rest) {
    const std::size_t end = rest.find('\n');
    nlohmann::json line = nlohmann::json::parse(rest.substr(0, end));
    rest.erase(0, end + 1);
    return line;
  }
  bool note_cancelled(const nlohmann::json& asked) {
    if (!asked.contains("cancel")) return false;
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(asked["cancel"].get<std::string>());
    return true;
  }
  std::mutex mutex_;
  std::vector<std::string> cancelled_;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace kerf::pytorch::test
