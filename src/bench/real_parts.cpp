#include "bench/real_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/file.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "bench/compare_stage.hpp"
#include "bench/watched_process.hpp"
#include "export/proof/model_export.hpp"
#include "pytorch/bridge_server.hpp"
#include "pytorch/import_model.hpp"
#include "report/html_report.hpp"
#include "report/run_costs.hpp"
#include "run/run_view.hpp"
#include "task/task.hpp"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;

StageEnd failed(Failure failure, std::string message) { return {failure, std::move(message), false}; }

std::chrono::milliseconds limit_of(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::max(1.0, seconds * 1000)));
}

std::string operator_words(const pytorch::UncoveredOperator& one) {
  return one.line > 0 ? fmt::format("{} (line {})", one.name, one.line) : one.name;
}

StageEnd import_stage(const RealPartsOptions& options, pytorch::BridgeServer& server, const Job& job, Record& record) {
  const auto text = model_text(record.problem);
  if (!text) return failed(Failure::broken, text.error().message);
  const fs::path file = model_path(job.folder, record.problem);
  if (const Status written = write_file_atomic(file, *text); !written)
    return failed(Failure::search_failed, written.error().message);
  pytorch::ImportRequest request;
  request.file = file;
  request.environment = options.environment;
  request.target = options.config.target;
  request.time_limit = limit_of(job.most_seconds);
  request.memory_bytes = job.most_memory_bytes;
  auto model = pytorch::import_model(request, server);
  if (*job.stop) return {Failure::none, "", true};
  if (!model) return failed(import_failure(model.error().message), model.error().message);
  record.torch = model->torch;
  record.python = model->python;
  record.training = model->training;
  record.share = model->share;
  record.notes = model->notes;
  record.missing.clear();
  for (const auto& one : model->missing) record.missing.push_back(operator_words(one));
  const auto task = parse_task(model->task, fs::path(), file.string() + " (as a task)");
  if (!task) return failed(Failure::refused, task.error().message);
  record.precision = precision_name(task->precision);
  for (const auto& [name, content] : {std::pair(kTaskFile, model->task), std::pair(kModelRecord, model->record)})
    if (const Status written = write_file_atomic(job.folder / name, content); !written)
      return failed(Failure::search_failed, written.error().message);
  return {};
}

/// The last line or two of what a process said.
std::string last_words(const std::string& err) {
  constexpr std::size_t kKept = 600;
  const std::string clean = printable(std::string(trim(err)));
  return clean.size() <= kKept ? clean : "..." + clean.substr(clean.size() - kKept);
}

StageEnd search_stage(const RealPartsOptions& options, const Job& job, Record& record) {
  RunConfig config = options.config;
  config.search.seed = record.seed;
  config.search.evaluations = job.evaluations;
  config.search.seconds = job.seconds;
  record.evaluation_limit = job.evaluations;
  record.seconds_limit = job.seconds;
  if (const Status written = write_file_atomic(job.folder / kOrderFile, to_toml(config, record.problem.name)); !written)
    return failed(Failure::search_failed, written.error().message);
  WatchedCommand command;
  command.argv = {options.self.string(), kSearchCommand, job.folder.string()};
  command.environment = options.environment;
  command.most_seconds = job.most_seconds;
  command.most_memory_bytes = job.most_memory_bytes;
  command.stop = job.stop;
  command.on_line = job.say;
  const auto outcome = run_watched(command);
  if (!outcome) return failed(Failure::search_failed, outcome.error().message);
  record.spent.search_memory_bytes = std::max(record.spent.search_memory_bytes, outcome->peak_memory_bytes);
  if (outcome->out_of_memory)
    return failed(Failure::out_of_memory, fmt::format("the search had {:.1f} GB, more than the {:.1f} it may have "
                                                      "(--task-memory)",
                                                      static_cast<double>(outcome->peak_memory_bytes) / 1e9,
                                                      static_cast<double>(job.most_memory_bytes) / 1e9));
  if (outcome->stopped) return {Failure::none, "", true};
  if (outcome->timed_out) {
    // What it had verified by then is kept in its run, and counts.
    if (const StageEnd end = read_run(job.folder / kRunFolder, record); end.failure == Failure::none) {
      record.stopped = fmt::format("ended after {:.0f} s (--task-limit)", job.most_seconds);
      return end;
    }
    return failed(Failure::timed_out,
                  fmt::format("the search did not end within {:.0f} s (--task-limit)", job.most_seconds));
  }
  if (outcome->signal != 0)
    return failed(Failure::crashed,
                  fmt::format("the search was ended by signal {}: {}", outcome->signal, last_words(outcome->err)));
  if (outcome->exit_code != 0) return failed(Failure::search_failed, fmt::format("{}", last_words(outcome->err)));
  return read_run(job.folder / kRunFolder, record);
}

StageEnd export_stage(const Job& job, const Record& record) {
  const fs::path run = job.folder / kRunFolder;
  // The page of a run is for people; that it cannot be written is no failure of the problem.
  if (const auto view = load_run(run, RunDetail::conversations))
    (void)write_file_atomic(run / "report.html", report::html_report(*view, report::run_costs(*view)));
  const auto text = exporting::kernelbench_export(run, std::to_string(record.step));
  if (!text) return failed(Failure::export_failed, text.error().message);
  if (const Status written = write_file_atomic(job.folder / kSolutionFile, *text); !written)
    return failed(Failure::export_failed, written.error().message);
  return {};
}

/// The run's best; where nothing was shown to be faster than the plain kernel, the fastest that passed every gate all
/// the same, unless it is clearly slower: it is PyTorch that it is compared with here. Null when there is none.
const Step* winner_of(const RunView& run) {
  constexpr double kAsFast = 0.9;  // as the plain kernel, within what timings say
  if (run.best > 0 && measurement_of(run.step(run.best)) != nullptr && !is_fallback(run.step(run.best)))
    return &run.step(run.best);
  const Step* best = nullptr;
  for (const Step& step : run.steps) {
    if (is_fallback(step) || is_trial(step) || is_duplicate(step) || !(speedup_of(run, step) > 0)) continue;
    if (best == nullptr || speedup_of(run, step) > speedup_of(run, *best)) best = &step;
  }
  const bool plain = run.best > 0 && is_fallback(run.step(run.best));  // then speedups are over it
  return plain && best != nullptr && speedup_of(run, *best) < kAsFast ? &run.step(run.best) : best;
}

}  // namespace

fs::path model_path(const fs::path& folder, const Problem& problem) {
  const std::string name = problem_folder(problem).filename().string();
  return folder / (name + ".py");
}

Failure import_failure(const std::string& message) {
  const auto has = [&](std::string_view words) { return message.find(words) != std::string::npos; };
  if (has("importing it took more than")) return Failure::timed_out;
  if (has("Python was ended by signal") || has("Python ended with exit code")) return Failure::crashed;
  if (has("out of memory")) return Failure::out_of_memory;
  for (const char* words :
       {"cannot be imported", " raised", "SyntaxError", "syntax", "the file has no", "is neither a class",
        "not an nn.Module", "not UTF-8", "there is no file", "gives no tensor"})
    if (has(words)) return Failure::broken;
  return Failure::refused;
}

StageEnd read_run(const fs::path& run, Record& record) {
  const auto view = load_run(run);
  if (!view) return failed(Failure::search_failed, view.error().message);
  record.stopped = view->fact("finished");
  record.evaluations = record.refused = 0;
  for (const Step& step : view->steps) {
    if (is_duplicate(step) || is_confirmation(step) || is_fallback(step)) continue;
    ++record.evaluations;
    if (measurement_of(step) == nullptr) ++record.refused;
  }
  const Step* best = winner_of(*view);
  if (best == nullptr) {
    std::string why = fmt::format("{} tried, {} refused", counted(record.evaluations, "kernel"), record.refused);
    if (view->best > 0) why += "; only the plain kernel passed every gate";
    if (!record.stopped.empty()) why += "; " + record.stopped;
    for (auto step = view->steps.rbegin(); step != view->steps.rend(); ++step)
      if (measurement_of(*step) == nullptr && !is_duplicate(*step)) {
        why +=
            fmt::format("\nlast refused: {}: {}", step->name, outcome_message(step->evaluation.outcome).substr(0, 400));
        break;
      }
    return failed(Failure::no_kernel, why);
  }
  const Measurement* measured = measurement_of(*best);
  record.step = best->number;
  record.kernel = best->name;
  record.verified = true;
  record.over_naive = measured->speedup;
  if (const ShapeMeasurement* shape = main_shape(*measured)) {
    record.kernel_us = shape->time.median;
    record.light = shape->speed_of_light;
  }
  return {};
}

Result<Parts> real_parts(RealPartsOptions options, Sandbox& sandbox) {
  // Shared by the parts, which are copied.
  const auto shared = std::make_shared<const RealPartsOptions>(std::move(options));
  KERF_TRY(auto started, pytorch::BridgeServer::start(shared->environment, sandbox));
  const std::shared_ptr<pytorch::BridgeServer> server = std::move(started);
  Parts parts;
  parts.import_model = [shared, server](const Job& job, Record& record) {
    return import_stage(*shared, *server, job, record);
  };
  parts.search = [shared](const Job& job, Record& record) { return search_stage(*shared, job, record); };
  parts.export_kernel = [](const Job& job, Record& record) { return export_stage(job, record); };
  const auto prepared = std::make_shared<PreparedComparisons>(*server);
  parts.prepare = [shared, server, prepared](const Job& job, const Record& record) {
    prepare_comparison(*shared, *prepared, job, record);
  };
  parts.compare = [shared, server, prepared](const Job& job, Record& record) {
    return compare_stage(*shared, *server, *prepared, job, record);
  };
  return parts;
}

}  // namespace kerf::bench
