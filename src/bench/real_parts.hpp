#pragma once
// The four stages as they really are: the model is imported by the user's Python, searched for by a process of our own,
// exported, and timed beside PyTorch by the user's Python again.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/parts.hpp"
#include "run/run_config.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf::bench {

inline constexpr const char* kOrderFile = "order.toml";    ///< what a search's process is told: a run's configuration
inline constexpr const char* kModelRecord = "model.json";  ///< what an export needs to know of the model
inline constexpr const char* kSearchCommand = "bench-search";  ///< `kerf bench-search FOLDER`, not for people

struct RealPartsOptions {
  std::filesystem::path self;                      ///< the kerf program
  std::map<std::string, std::string> environment;  ///< the user's, whole
  RunConfig config;                                ///< of every search; budget and seed are those of the job
  std::string pytorch_device;
  bool compile = true;           ///< torch.compile too
  double timing_seconds = 10;    ///< of the comparison's timed rounds
  double compile_seconds = 120;  ///< most for torch.compile
};

/// Starts the user's Python; unavailable where none has PyTorch. `sandbox` is borrowed for as long as the parts are
/// used.
Result<Parts> real_parts(RealPartsOptions options, Sandbox& sandbox);

/// The model's file in a problem's folder; named after it, because tasks are named after their files.
std::filesystem::path model_path(const std::filesystem::path& folder, const Problem& problem);

/// What the words of a failed import mean.
Failure import_failure(const std::string& message);

/// Fills in what a finished run says: kernel, figures, evaluations.
StageEnd read_run(const std::filesystem::path& run, Record& record);

}  // namespace kerf::bench
