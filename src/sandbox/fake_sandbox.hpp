#pragma once
// A sandbox that runs nothing: scripted answers, recorded commands.

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "sandbox/sandbox.hpp"

namespace kerf {

class FakeSandbox final : public Sandbox {
 public:
  std::deque<Result<ProcessOutcome>> answers;  ///< taken in order; the last one is repeated
  std::vector<SandboxCommand> ran;

  Result<ProcessOutcome> run(const SandboxCommand& command) override {
    ran.push_back(command);
    if (answers.empty()) return ProcessOutcome{};
    auto answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    return answer;
  }
  Result<std::unique_ptr<SandboxProcess>> start(const SandboxCommand& command) override {
    ran.push_back(command);
    return fail(Errc::unavailable, "the fake sandbox starts nothing");
  }
};

}  // namespace kerf
