#include "app/cli/pytorch_comparison.hpp"

#include <fmt/format.h>

#include <stdlib.h>

#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "export/proof/model_export.hpp"
#include "store/run_store.hpp"
#include "target/target.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

/// A temporary folder, removed with what is in it.
class CompareFolder {
 public:
  CompareFolder() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "kerf-compare-XXXXXX").string();
    if (const char* made = ::mkdtemp(pattern.data())) path_ = made;
  }
  ~CompareFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  CompareFolder(const CompareFolder&) = delete;
  CompareFolder& operator=(const CompareFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The model file: where the run found it, while it is the same, for files may import others beside them; else written
/// again from what the run keeps.
Result<fs::path> model_file(const RunView& run, const fs::path& scratch) {
  const auto record = nlohmann::json::parse(run.fact("model"), nullptr, false);
  const std::string source = record.is_object() ? record.value("source", "") : "";
  if (source.empty())
    return fail(Errc::invalid_input,
                fmt::format("{} was not made from a PyTorch model file; 'kerf optimize model.py' makes such a run",
                            run.folder.string()));
  fs::path original = run.fact("task_path");
  if (const auto text = read_file(original); text && *text == source) return original;
  fs::path again = scratch / "kerf_original.py";
  KERF_TRY_VOID(write_file_atomic(again, source));
  return again;
}

}  // namespace

Result<std::string> torch_device_of(const std::string& target) {
  KERF_TRY_VOID(check_target_name(target));
  std::string device = find_target(target)->torch_device;
  if (!device.empty()) return device;
  std::vector<std::string> names;
  for (const auto& one : target_descriptions())
    if (!one.torch_device.empty()) names.push_back(one.name);
  return fail(Errc::invalid_input, fmt::format("PyTorch has no device for target '{}' to be compared on; it has for {}",
                                               target, join(names, " and ")));
}

Result<pytorch::Comparison> compare_files(const std::filesystem::path& model, const std::filesystem::path& kernel,
                                          const std::string& target, const PyTorchOptions& options,
                                          const Environment& environment) {
  pytorch::CompareRequest request;
  request.model = model;
  request.kernel = kernel;
  request.environment = environment.whole;
  KERF_TRY(request.device, torch_device_of(target));
  request.seed = options.seed;
  request.compile = options.compile;
  request.timing = std::chrono::milliseconds(static_cast<std::int64_t>(options.seconds * 1000));
  request.time_limit = std::chrono::minutes(10) + 2 * request.timing;
  const auto sandbox = make_sandbox();
  return pytorch::compare_with_pytorch(request, *sandbox);
}

Result<pytorch::Comparison> compare_run(const fs::path& folder, const PyTorchOptions& options,
                                        const Environment& environment) {
  KERF_TRY(const RunView run, load_run(folder));
  const CompareFolder scratch;
  if (scratch.path().empty()) return fail(Errc::io, "cannot make a temporary folder");
  KERF_TRY(const fs::path model, model_file(run, scratch.path()));
  KERF_TRY(const std::string text, exporting::kernelbench_export(folder));
  const fs::path kernel = scratch.path() / "kerf_model_new.py";
  KERF_TRY_VOID(write_file_atomic(kernel, text));
  KERF_TRY(auto comparison, compare_files(model, kernel, run.fact("target"), options, environment));
  KERF_TRY(const auto store, open_run_store(folder, RunStore::Access::write));
  KERF_TRY_VOID(store->set("pytorch", to_json(comparison)));
  KERF_TRY_VOID(store->set("pytorch_step", std::to_string(run.best)));
  return comparison;
}

bool can_be_compared(const RunView& run) {
  const auto record = nlohmann::json::parse(run.fact("model"), nullptr, false);
  if (!record.is_object() || !record.contains("uncovered") || !record["uncovered"].empty()) return false;
  const TargetDescription* target = find_target(run.fact("target"));
  return target != nullptr && !target->torch_device.empty() && run.best != 0 && !is_fallback(run.step(run.best));
}

std::string comparison_text(const pytorch::Comparison& comparison, const Style& style) {
  const auto lines = pytorch::in_words(comparison);
  const bool faster = usable(comparison) && comparison.over_eager->interval.low > 1;
  std::string text = paint(one_line(lines.front()), faster ? Colour::green : Colour::yellow, style) + "\n";
  for (std::size_t i = 1; i < lines.size(); ++i) text += "  " + one_line(lines[i]) + "\n";
  return text;
}

std::string kept_comparison_text(const RunView& run, const Style& style) {
  const std::string kept = run.fact("pytorch");
  if (kept.empty()) return "";
  const auto comparison = pytorch::comparison_from_json(kept);
  if (!comparison) return "";
  const std::string step = run.fact("pytorch_step");
  std::string text = "\n" + paint("Beside PyTorch", Colour::bold, style) + "\n" + comparison_text(*comparison, style);
  if (!step.empty() && step != std::to_string(run.best))
    text += fmt::format("  this was step {}; the best is step {} now: kerf compare --pytorch {}\n", one_line(step),
                        run.best, run.folder.filename().string());
  return text;
}

}  // namespace kerf::cli
