#pragma once
// The way to the user's Python: a question and its answer, both JSON. docs/pytorch.md has their fields.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf::pytorch {

struct BridgeQuestion {
  std::string request;  ///< JSON
  std::chrono::milliseconds time_limit{std::chrono::minutes(5)};
  std::int64_t memory_bytes = 0;  ///< address space; 0: no limit
};

struct BridgeAnswer {
  std::string text;        ///< JSON; "" when the process left none
  ProcessOutcome outcome;  ///< how it ended, and the end of what it said
  std::string python;      ///< the program that was used
};

class Bridge {
 public:
  virtual ~Bridge() = default;
  /// An answer also when the process failed. unavailable: no Python with PyTorch; invalid_input: the one that the user
  /// names is no program. Neither message names a file.
  virtual Result<BridgeAnswer> ask(const BridgeQuestion& question) = 0;
};

/// A process for every question. `environment` is the process's own; KERF_PYTHON and PATH of it decide which Python.
std::unique_ptr<Bridge> make_bridge(std::map<std::string, std::string> environment, Sandbox& sandbox);

/// Pythons to try, in order: that of KERF_PYTHON alone where it is set, else python3 on PATH, then /usr/bin/python3.
std::vector<std::string> python_programs(const std::map<std::string, std::string>& environment);
/// What to say when none of them will do: `tried` names them with reasons.
Error no_python(const std::map<std::string, std::string>& environment, const std::vector<std::string>& tried);

std::int64_t machine_memory();  ///< bytes

/// A folder with the bridge's files in it, removed with whatever else is there.
class BridgeFolder {
 public:
  static Result<std::unique_ptr<BridgeFolder>> make();
  ~BridgeFolder();
  BridgeFolder(const BridgeFolder&) = delete;
  BridgeFolder& operator=(const BridgeFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Starts the bridge with these arguments: the user's own program on the user's own machine, which may read files and
  /// use the network as it does without us. No limit on time or memory.
  SandboxCommand command(const std::string& python, const std::vector<std::string>& arguments,
                         const std::map<std::string, std::string>& environment) const;

 private:
  explicit BridgeFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace kerf::pytorch
