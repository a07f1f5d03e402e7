#pragma once
// A target with everything a judge borrows from its surroundings, opened once per command or run.

#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "build/build.hpp"
#include "judge/judge.hpp"
#include "model/task.hpp"
#include "target/target.hpp"

namespace kerf {

enum class Builds { kept, fresh };  ///< compiled code is kept in the cache folder, or made anew

/// Stays where it is: judges borrow from it.
class TargetSession {
 public:
  /// Opens the target, and the one that C++ references are written for where the task has such a reference.
  /// `resources` is borrowed for the call, but its sandbox for the session's life.
  static Result<std::unique_ptr<TargetSession>> open(const Task& task, const std::string& target,
                                                     const std::string& device, const TargetResources& resources,
                                                     Builds builds = Builds::kept);
  TargetSession(const TargetSession&) = delete;
  TargetSession& operator=(const TargetSession&) = delete;

  Target& target() { return target_; }
  const DeviceFacts& facts() const { return target_.device->facts(); }
  Clock& clock() { return clock_; }
  JudgeTools tools() {
    return {target_, cpp_ ? &*cpp_ : &target_, builds_, clock_, 0, !target_.device->facts().runs_on_host};
  }

 private:
  TargetSession(Target target, std::optional<Target> cpp, const std::filesystem::path& builds)
      : target_(std::move(target)), cpp_(std::move(cpp)), builds_(builds) {}
  Target target_;
  std::optional<Target> cpp_;
  BuildCache builds_;
  SystemClock clock_;
};

}  // namespace kerf
