#pragma once
// What a judge is told to do, and the text of it that evaluations are kept under.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "measure/timing.hpp"

namespace kerf {

struct JudgeOptions {
  std::uint64_t seed = 1;  ///< of all data; unpredictable for candidates, recorded in the evaluation
  std::string only_shape;  ///< "": all that apply to the target
  MeasureOptions measure;
  std::chrono::milliseconds call_limit{900};  ///< added to 20 times the naive kernel's time
  int timed_data_sets = 3;                    ///< distinct data sets that timed calls draw from
  bool skip_timing = false;                   ///< verification only
  bool certify = false;                       ///< a kernel that was measured goes through a soak too
  double soak_seconds = 2;                    ///< of all shapes together
  std::filesystem::path cache;                ///< evaluations and peaks; empty: none
  bool use_evaluation_cache = true;
};

/// Every option that can change a verdict or an interval, with its value. Where the cache lies and whether it is used
/// cannot.
std::string key_text(const JudgeOptions& options);

}  // namespace kerf
