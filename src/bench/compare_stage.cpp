#include "bench/compare_stage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.hpp"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;

std::optional<TimeSpan> span_of(const pytorch::Program& program) {
  if (!program.times || !(program.times->median_us > 0)) return {};
  return TimeSpan{program.times->median_us, program.times->interval_us.low, program.times->interval_us.high};
}

std::optional<SpeedRatio> ratio_of(const std::optional<pytorch::Ratio>& ratio) {
  if (!ratio || !(ratio->ratio > 0)) return {};
  return SpeedRatio{ratio->ratio, ratio->interval.low, ratio->interval.high};
}

StageEnd kernel_failure(const pytorch::Program& kernel) {
  using pytorch::ProgramStatus;
  const auto failure = [&](Failure kind, std::string_view words) {
    return StageEnd{kind, fmt::format("the exported kernel {}: {}", words, kernel.message), false};
  };
  switch (kernel.status) {
    case ProgramStatus::out_of_memory: return failure(Failure::out_of_memory, "ran out of memory");
    case ProgramStatus::timed_out: return failure(Failure::timed_out, "took too long");
    case ProgramStatus::crashed: return failure(Failure::crashed, "ended its process");
    default: return failure(Failure::compare_failed, "did not run in PyTorch");
  }
}

/// The original as the kernel to compare with itself: its times are PyTorch's own.
Result<fs::path> model_as_kernel(const Job& job, const Record& record) {
  KERF_TRY(const std::string text, read_file(model_path(job.folder, record.problem)));
  fs::path file = job.folder / "eager_only.py";
  KERF_TRY_VOID(write_file_atomic(file, text + "\nModelNew = Model\n"));
  return file;
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::max(1.0, seconds * 1000)));
}

pytorch::CompareRequest request_for(const RealPartsOptions& options, const Job& job, const Record& record) {
  pytorch::CompareRequest request;
  request.model = model_path(job.folder, record.problem);
  request.kernel = job.folder / kSolutionFile;
  request.environment = options.environment;
  request.device = options.pytorch_device;
  request.compile = options.compile;
  // Where time is short the rounds are few: the search needs it more.
  const double timing =
      job.seconds > 0 ? std::clamp(job.seconds / 4, 1.0, options.timing_seconds) : options.timing_seconds;
  request.timing = milliseconds(timing);
  request.compile_limit = milliseconds(std::min(options.compile_seconds, job.most_seconds / 2));
  request.time_limit = milliseconds(job.most_seconds);
  request.memory_bytes = job.most_memory_bytes;
  return request;
}

}  // namespace

StageEnd settle_comparison(const pytorch::Comparison& comparison, bool alone, Record& record) {
  record.eager = span_of(comparison.eager);
  record.compiled = span_of(comparison.compiled);
  record.compile_status = pytorch::name_of(comparison.compiled.status);
  record.compile_message = comparison.compiled.message;
  record.eager_class = comparison.accuracy_class;
  record.weak.clear();
  for (const auto& one : comparison.weak)
    record.weak.push_back(one.output.empty() ? one.kind : fmt::format("{} (output {})", one.kind, one.output));
  if (record.torch.empty()) record.torch = comparison.torch;
  record.compiled_over_eager = ratio_of(comparison.compiled_over_eager);
  if (alone) return {};
  record.comparison = pytorch::to_json(comparison);
  record.ours = span_of(comparison.kernel);
  record.over_eager = ratio_of(comparison.over_eager);
  record.over_compiled = ratio_of(comparison.over_compiled);
  if (comparison.kernelbench.decided) record.kernelbench_correct = comparison.kernelbench.correct;
  record.kernelbench_problem = comparison.kernelbench.problem;
  record.kernelbench_worst = comparison.kernelbench.worst;
  const auto status = comparison.kernel.status;
  if (status != pytorch::ProgramStatus::measured && status != pytorch::ProgramStatus::wrong)
    return kernel_failure(comparison.kernel);
  if (!comparison.kernelbench.decided && !comparison.in_class)
    return {Failure::compare_failed, "the exported kernel's outputs could not be compared with PyTorch's", false};
  if (status == pytorch::ProgramStatus::wrong)
    return {Failure::wrong,
            fmt::format("the exported kernel's outputs differ from PyTorch's by up to {:.3g}: {}",
                        comparison.kernelbench.worst, comparison.kernelbench.problem),
            false};
  record.correct = record.verified;
  if (!record.ours || !record.over_eager)
    return {Failure::compare_failed,
            fmt::format("no times beside eager PyTorch ({}{})", pytorch::name_of(comparison.eager.status),
                        comparison.eager.message.empty() ? "" : ": " + comparison.eager.message),
            false};
  return {};
}

void prepare_comparison(const RealPartsOptions& options, PreparedComparisons& prepared, const Job& job,
                        const Record& record) {
  pytorch::CompareRequest request = request_for(options, job, record);
  request.wait_limit = request.time_limit;  // it is ended when the comparison's own limit is over, at the latest then
  prepared.begin(problem_id(record.problem), std::move(request));
}

StageEnd compare_stage(const RealPartsOptions& options, pytorch::BridgeServer& server, PreparedComparisons& prepared,
                       const Job& job, Record& record) {
  const bool alone = record.failure != Failure::none;
  pytorch::CompareRequest request = request_for(options, job, record);
  if (alone) {
    auto kernel = model_as_kernel(job, record);
    if (!kernel) return {Failure::compare_failed, kernel.error().message, false};
    request.kernel = *std::move(kernel);
  }
  Finished ready = prepared.finish(problem_id(record.problem), request, *job.stop);
  if (*job.stop) return {Failure::none, "", true};
  if (ready.timed_out)
    return {Failure::timed_out, fmt::format("the comparison did not end within {:.0f} s", job.most_seconds), false};
  const auto comparison =
      ready.comparison ? *std::move(ready.comparison) : pytorch::compare_with_pytorch(request, server);
  if (*job.stop) return {Failure::none, "", true};
  if (!comparison) return {Failure::compare_failed, comparison.error().message, false};
  return settle_comparison(*comparison, alone, record);
}

}  // namespace kerf::bench
