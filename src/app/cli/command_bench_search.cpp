#include <fmt/format.h>

#include "app/cli/bench_commands.hpp"
#include "app/cli/interrupt_guard.hpp"
#include "app/cli/memory_option.hpp"
#include "app/cli/run_text.hpp"
#include "base/file.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "bench/real_parts.hpp"
#include "run/optimize_task.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

/// A line per step for the process that watches: how far the search is.
class LineReporter final : public RunObserver {
 public:
  explicit LineReporter(std::ostream& out) : out_(out) {}
  void on_event(const RunEvent& event) override {
    if (const auto* finished = std::get_if<StepFinished>(&event)) {
      const SearchProgress& progress = finished->progress;
      std::string words = counted(progress.evaluations, "kernel");
      if (progress.best)
        words += fmt::format(", best {} vs {}", format_speedup(progress.best->ratio), one_line(progress.best->vs));
      out_ << words << std::endl;
    } else if (const auto* note = std::get_if<RunNote>(&event)) {
      out_ << one_line(note->text) << std::endl;
    }
  }

 private:
  std::ostream& out_;
};

/// Goes on with the run that is there where it is of this very task; anything else in its place is begun again.
Result<OptimizeRequest> request_of(const fs::path& folder) {
  KERF_TRY(const std::string order, read_file(folder / bench::kOrderFile));
  KERF_TRY(const RunConfig config, config_from_toml(order));
  OptimizeRequest request;
  KERF_TRY(request.task.source, read_file(folder / bench::kTaskFile));
  request.task.origin = (folder / bench::kTaskFile).string();
  KERF_TRY(request.task.task, parse_task(request.task.source, fs::path(), request.task.origin));
  KERF_TRY(request.task.model, read_file(folder / bench::kModelRecord));
  request.config = config;
  request.folder = folder / bench::kRunFolder;
  std::error_code error;
  if (!fs::exists(request.folder, error)) return request;
  if (auto stored = stored_request(request.folder); stored && stored->task.task.id == request.task.task.id) {
    stored->config = config;
    return stored;
  }
  fs::remove_all(request.folder, error);
  return request;
}

}  // namespace

Status bench_search(const std::string& folder, const Environment& environment, Console& console) {
  KERF_TRY(OptimizeRequest request, request_of(folder));
  KERF_TRY(const auto memory, open_memory(request.config.memory, environment, console));
  request.memory = memory.get();
  KERF_TRY(const auto skills, open_skills(request.config.memory, environment));
  request.skills = skills.get();
  const auto sandbox = make_sandbox();
  const TargetResources resources = make_context(environment, *sandbox, 0);
  const InterruptGuard guard;
  LineReporter reporter(console.out);
  KERF_TRY_VOID(optimize_task(request, resources, reporter, interrupted()));
  return {};
}

}  // namespace kerf::cli
