#pragma once
// What became of one problem: everything that the table, the page and the scores are made of. Kept as JSON beside the
// problem's run (docs/formats.md), written again after every stage.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bench/problem.hpp"
#include "model/evaluation.hpp"

namespace kerf::bench {

inline constexpr int kBenchSchema = 1;

/// How far a problem came. Names are stored.
enum class Progress { missing, imported, searched, exported, done };
/// Why it has no figures. Names are stored.
enum class Failure {
  none,
  refused,        ///< the model cannot be imported as a task: dropout that is active, an operator without a part
  broken,         ///< the model file itself is wrong
  no_kernel,      ///< no kernel passed every gate
  search_failed,  ///< the search could not begin or ended with an error
  crashed,        ///< a process of ours ended by itself
  timed_out,
  out_of_memory,
  export_failed,
  wrong,           ///< the exported kernel ran in PyTorch and gives something else
  compare_failed,  ///< PyTorch and the kernel could not be timed beside each other
};
std::string_view failure_name(Failure failure);   ///< "no_kernel"; "" for none
std::string_view failure_words(Failure failure);  ///< "no kernel"; for people
std::string_view progress_name(Progress progress);

/// Median and 95 % interval, in microseconds.
struct TimeSpan {
  double median_us = 0, low_us = 0, high_us = 0;
};
/// Above 1: the first of the two is faster.
struct SpeedRatio {
  double ratio = 0, low = 0, high = 0;  ///< 95 % interval; low = high = 0 where there is none
};

/// Wall seconds by stage, and the most memory that a process of the problem had.
struct Spent {
  double import_seconds = 0, search_seconds = 0, export_seconds = 0, compare_seconds = 0;
  std::int64_t search_memory_bytes = 0;  ///< resident, of the search and its workers together

  double total() const { return import_seconds + search_seconds + export_seconds + compare_seconds; }
};

struct Record {
  Problem problem;
  Progress progress = Progress::missing;
  Failure failure = Failure::none;
  std::string stage;    ///< at which it failed: "import", "search", "export", "compare"; ""
  std::string message;  ///< of the failure, for people; several lines
  Spent spent;
  std::uint64_t seed = 0;

  // Of the import.
  std::string torch, python;
  bool training = true;
  double share = 1;                  ///< of the model's arithmetic that is in the task
  std::vector<std::string> missing;  ///< operators that stay with PyTorch
  std::vector<std::string> notes;

  // Of the search.
  std::int64_t step = 0;  ///< of the run: the winner's
  std::string kernel;     ///< the winner's composition: "conv/implicit + row/block"
  std::string precision;  ///< the task's accuracy class: "f32", "tf32"
  int evaluations = 0, refused = 0;
  double evaluation_limit = 0, seconds_limit = 0;  ///< 0: none
  std::string stopped;                             ///< why the search ended
  std::optional<Speedup> over_naive;               ///< as the search measured it
  std::optional<double> kernel_us;                 ///< likewise: with cold caches
  std::optional<SpeedOfLight> light;
  bool verified = false;  ///< Kerf's verdict on the kernel: it passed every gate

  // Of the comparison with PyTorch.
  std::optional<TimeSpan> eager, compiled, ours;
  std::optional<SpeedRatio> over_eager, over_compiled, compiled_over_eager;
  std::string compile_status;  ///< "measured", "failed", "unavailable", ...
  std::string compile_message;
  bool correct = false;                     ///< Kerf's verdict on the exported kernel: verified, and right in PyTorch
  std::optional<bool> kernelbench_correct;  ///< KernelBench's rule; none: it could not be applied
  std::string kernelbench_problem;
  double kernelbench_worst = 0;   ///< largest difference to eager PyTorch
  std::string eager_class;        ///< accuracy class of eager as measured
  std::vector<std::string> weak;  ///< answers that the inputs let pass though nothing is computed: "zeros"
  std::string comparison;         ///< all of it as JSON, as src/pytorch keeps it; "": none

  bool finished() const { return progress == Progress::done || failure != Failure::none; }
};

/// One JSON object.
std::string to_json(const Record& record, int indent = -1);
Result<Record> record_from_json(const std::string& text);

/// The kernel's groups: {"conv/implicit", "row/block"}.
std::vector<std::string> composition(const Record& record);

}  // namespace kerf::bench
