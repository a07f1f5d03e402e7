// The formats of `kerf export` for PyTorch.
#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "app/cli/output_path.hpp"
#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "export/proof/model_export.hpp"
#include "run/run_view.hpp"
#include "store/find_run.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

/// Options that have no meaning here.
Status check_model_options(const ExportOptions& options) {
  const auto wrong = [&](const std::string& why) {
    return fail(Errc::invalid_input, fmt::format("--format {}: {}", options.format, why));
  };
  if (options.run.empty()) return wrong("name a run that was made from a PyTorch model file");
  if (!options.kernel.empty() || !options.task.empty()) return wrong("it takes a run, not --task and --kernel");
  if (!options.shapes.empty()) return wrong("a model has literal shapes; import it with others to export those");
  if (!options.set.empty()) return wrong("--set goes with --kernel");
  if (!options.name.empty()) return wrong("the name is that of --out");
  return {};
}

Status write_model_file(const fs::path& path, const std::string& text, Console& console) {
  KERF_TRY_VOID(write_output({path, OutputKind::exported_code, {}}, text));
  console.out << path.string() << "\n";
  return {};
}

void say_next(const std::string& words, Console& console) {
  console.err << paint("next: " + words, Colour::dim, console.err_style) << "\n" << std::flush;
}

Status write_kernelbench(const ExportOptions& options, const fs::path& run, Console& console) {
  const fs::path out = options.out.empty() ? run / "model_new.py" : fs::path(options.out);
  if (out.extension() != ".py")
    return fail(Errc::invalid_input,
                fmt::format("--out {}: the format kernelbench is one Python file; give FILE.py", options.out));
  KERF_TRY_VOID(check_output({out, OutputKind::exported_code, {}}));
  KERF_TRY(const std::string text, exporting::kernelbench_export(run, options.step));
  KERF_TRY_VOID(write_model_file(out, text, console));
  say_next("give the file to KernelBench's evaluator, or import ModelNew from it", console);
  return {};
}

Status write_package(const ExportOptions& options, const fs::path& run, Console& console) {
  const fs::path out = (options.out.empty() ? run / "export_torch" : fs::path(options.out)).lexically_normal();
  const std::string package = out.has_filename() ? out.filename().string() : out.parent_path().filename().string();
  KERF_TRY_VOID(check_output_folder(out));
  KERF_TRY(const auto files, exporting::torch_export(run, package, options.step));
  for (const auto& file : files) KERF_TRY_VOID(check_output({out / file.path, OutputKind::exported_code, {}}));
  for (const auto& file : files) KERF_TRY_VOID(write_model_file(out / file.path, file.text, console));
  say_next(fmt::format("in {}: python -m {}.check", fs::absolute(out).parent_path().string(), package), console);
  return {};
}

}  // namespace

Status export_model(const ExportOptions& options, Console& console) {
  KERF_TRY_VOID(check_model_options(options));
  KERF_TRY(const fs::path run, find_run(options.run, kRunsFolder));
  return options.format == "torch" ? write_package(options, run, console) : write_kernelbench(options, run, console);
}

}  // namespace kerf::cli
