#include <fmt/format.h>

#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "export/export.hpp"
#include "export/shape_winners.hpp"
#include "run/chosen_kernel.hpp"
#include "run/run_task.hpp"
#include "store/find_run.hpp"

namespace kerf::cli {
namespace {

/// What people read at the top of an exported file.
std::string origin_of(const RunView& run, const Task& task, const Step& step) {
  std::string text = task.name + (task.description.empty() ? "" : ": " + task.description) + "\n";
  text += fmt::format("Kernel {} of step {} in {}, exported by kerf {}.\n", step.evaluation.candidate_id.substr(0, 12),
                      step.number, run.folder.filename().string(), kKerfVersion);
  const Measurement& measured = *measurement_of(step);
  text += fmt::format("Measured on {}: {} over {}.\n", step.evaluation.device, format_speedup(measured.speedup),
                      measured.speedup.vs);
  for (const auto& shape : measured.shapes)
    text += fmt::format("  {}: {}\n", shape.shape, format_us(shape.time.median));
  return printable(text);
}

std::string next_words(exporting::Format format, const std::string& target, const std::string& folder,
                       const std::string& name) {
  switch (format) {
    case exporting::Format::cmake:
      return fmt::format("cmake -S {0} -B {0}/build && cmake --build {0}/build && {0}/build/check_{1}", folder, name);
    case exporting::Format::c_header: {
      std::string macro = name;
      for (char& c : macro) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      return fmt::format("#define {}_IMPLEMENTATION in one source file before including it", macro);
    }
    case exporting::Format::source:
      return target == "cpu"
                 ? "compile with -O3 -march=native -fopenmp -fno-math-errno -fno-trapping-math -ffp-contract=fast"
                 : "add the files to your build; --format cmake has one";
  }
  return "";
}

}  // namespace

Status export_run(const ExportOptions& options, const Environment&, Console& console) {
  const auto format = exporting::format_from_name(options.format);
  if (!format) {
    const auto known = exporting::format_names();
    return fail(Errc::invalid_input, fmt::format("unknown format '{}'{}; choose one of: {}", options.format,
                                                 did_you_mean(options.format, known), join(known, ", ")));
  }
  KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
  KERF_TRY(const auto run, load_run(folder));
  KERF_TRY(const TaskText text, stored_task(run.facts, run.folder.string()));
  const Task& task = text.task;
  KERF_TRY(const ChosenKernel chosen, choose_kernel(run, options.step));
  const Step& step = run.step(chosen.step);
  const exporting::Winner winner{task,
                                 run.fact("target"),
                                 chosen.candidate,
                                 chosen.tunables,
                                 exporting::winners_by_shape(run.steps, step),
                                 origin_of(run, task, step)};
  KERF_TRY(const auto files, exporting::export_files(winner, *format));
  const std::filesystem::path out =
      options.out.empty() ? folder / ("export-" + options.format) : std::filesystem::path(options.out);
  for (const auto& file : files) {
    KERF_TRY_VOID(write_file_atomic(out / file.path, file.text));
    console.out << (out / file.path).string() << "\n";
  }
  for (const auto& [shape, tunables] : winner.by_shape)
    console.err << fmt::format("shape '{}' has tuned values of its own\n", printable(shape));
  console.err << paint("next: " + next_words(*format, winner.target, out.string(), exporting::function_name(task)),
                       Colour::dim, console.err_style)
              << "\n"
              << std::flush;
  console.out << std::flush;
  return {};
}

}  // namespace kerf::cli
