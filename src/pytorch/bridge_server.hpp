#pragma once
// A Python process that has imported PyTorch and forks a child for every question: importing a model then costs
// milliseconds instead of the seconds that importing PyTorch takes.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.hpp"
#include "pytorch/bridge.hpp"
#include "sandbox/sandbox.hpp"
#include "sandbox/unique_fd.hpp"

namespace kerf::pytorch {

/// Thread-safe: questions asked side by side run side by side. A child that dies or takes too long is the end of its
/// question only; a server that dies is started again with the next question.
class BridgeServer final : public Bridge {
 public:
  /// Starts the first Python of `environment` that has PyTorch 1.13 or later. `sandbox` is borrowed.
  static Result<std::unique_ptr<BridgeServer>> start(std::map<std::string, std::string> environment, Sandbox& sandbox);
  ~BridgeServer() override;

  Result<BridgeAnswer> ask(const BridgeQuestion& question) override;
  /// Ends the child whose request has this `wait_for`, whatever it is doing; it is answered as one that was killed.
  void cancel(const std::filesystem::path& wait_for);

  const std::string& python() const { return python_; }  ///< the program
  const std::string& torch() const { return torch_; }    ///< its version of PyTorch

 private:
  BridgeServer(std::map<std::string, std::string> environment, Sandbox& sandbox)
      : environment_(std::move(environment)), sandbox_(sandbox) {}
  Status launch();                                                 ///< the process, of the first Python that answers
  Status begin(const std::string& python);                         ///< the process of one Python
  Result<std::string> next_line(std::chrono::milliseconds limit);  ///< of the socket
  Status send(const std::string& line);
  Result<ProcessOutcome> wait_for(std::int64_t id, std::chrono::milliseconds limit, std::unique_lock<std::mutex>& lock);
  void end();

  std::map<std::string, std::string> environment_;
  Sandbox& sandbox_;
  std::unique_ptr<BridgeFolder> folder_;
  std::string python_, torch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_, except that the one who reads owns the socket's input and `rest_`.
  std::unique_ptr<SandboxProcess> process_;
  UniqueFd socket_;
  std::string rest_;      ///< of a line that has not ended
  bool reading_ = false;  ///< somebody waits at the socket, for all
  bool broken_ = false;   ///< the server is gone
  int asking_ = 0;        ///< questions on their way
  std::int64_t last_id_ = 0;
  std::map<std::int64_t, ProcessOutcome> ended_;  ///< children whose askers have not looked yet
};

}  // namespace kerf::pytorch
