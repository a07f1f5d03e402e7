#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "app/cli/commands.hpp"
#include "app/cli/export_check.hpp"
#include "app/cli/kernel_file.hpp"
#include "app/cli/output_path.hpp"
#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "export/export.hpp"
#include "export/proof/shape_winners.hpp"
#include "export/shape_ranges.hpp"
#include "export/torch_export.hpp"
#include "judge/judge.hpp"
#include "run/chosen_kernel.hpp"
#include "run/run_task.hpp"
#include "run/settings.hpp"
#include "run/standing.hpp"
#include "run/target_session.hpp"
#include "store/find_run.hpp"
#include "target/target.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace {

/// What people read at the top of an exported file.
std::string origin_of(const RunView& run, const Task& task, const Step& step) {
  std::string text = task.name + (task.description.empty() ? "" : ": " + task.description) + "\n";
  text += fmt::format("Kernel {} of step {} in {}.\n", step.evaluation.candidate_id.substr(0, 12), step.number,
                      run.folder.filename().string());
  const Measurement& measured = *measurement_of(step);
  text += is_fallback(step) ? fmt::format("The plain kernel; measured on {}.\n", step.evaluation.device)
                            : fmt::format("Measured on {}: {} over {}.\n", step.evaluation.device,
                                          format_speedup(measured.speedup), measured.speedup.vs);
  for (const auto& shape : measured.shapes)
    text += fmt::format("  {}: {}\n", shape.shape, format_us(shape.time.median));
  return printable(text);
}

std::string next_words(exporting::Format format, const exporting::Exporter& exporter, const std::string& folder,
                       const std::string& name) {
  switch (format) {
    case exporting::Format::cmake:
      return fmt::format("cmake -S {0} -B {0}/build && cmake --build {0}/build && {0}/build/check_{1}", folder, name);
    case exporting::Format::c_header: {
      std::string macro = name;
      for (char& c : macro) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      return fmt::format("#define {}_IMPLEMENTATION in one source file before including it", macro);
    }
    case exporting::Format::source: return exporter.compile_advice() + "; --format cmake has a build of its own";
  }
  return "";
}

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm date{};
  ::gmtime_r(&now, &date);
  return fmt::format("{:04}-{:02}-{:02}", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
}

/// What is exported, and where it goes when the user does not say.
struct Material {
  Task task;
  std::string target;
  Candidate candidate;
  Bindings tunables;
  std::map<std::string, Bindings> by_shape;
  std::string origin;
  bool judged = false;    ///< on the task's own shape sets
  std::string warning{};  ///< set: the kernel is not shown to be faster than what the user has anyway
  std::filesystem::path folder;
};

Result<Material> from_run(const ExportOptions& options) {
  Material material;
  KERF_TRY(material.folder, find_run(options.run, kRunsFolder));
  KERF_TRY(const auto run, load_run(material.folder));
  KERF_TRY(TaskText text, stored_task(run.facts, run.folder.string()));
  material.task = std::move(text.task);
  KERF_TRY(ChosenKernel chosen, choose_kernel(run, options.step));
  const Step& step = run.step(chosen.step);
  material.target = run.fact("target");
  material.candidate = std::move(chosen.candidate);
  material.tunables = std::move(chosen.tunables);
  material.by_shape = exporting::winners_by_shape(run.steps, step);
  material.origin = origin_of(run, material.task, step);
  material.judged = true;
  const Speedup speedup = measured_speedup(step);
  if (is_fallback(step))
    material.warning =
        "warning: this is the plain kernel; nothing faster was found, 'kerf optimize --resume' searches on";
  else if (standing_of(speedup) != Standing::faster)
    material.warning = "warning: this kernel is " + printable(standing_text(speedup)) +
                       "; 'kerf naive' prints the plain one, 'kerf optimize --resume' searches on";
  return material;
}

/// A kernel of the user's own.
Result<Material> from_kernel(const ExportOptions& options, const Environment& environment) {
  Material material;
  KERF_TRY(material.task, load_checked_task(options.task, environment));
  KERF_TRY(material.candidate, read_kernel_file(options.kernel, ""));
  const Candidate& candidate = material.candidate;
  const std::filesystem::path file(options.kernel);
  KERF_TRY_VOID(check_against(material.task, candidate));
  KERF_TRY(const Settings settings, parse_settings(options.set));
  if (!settings.options.empty())
    return fail(Errc::invalid_input,
                fmt::format("--set {}: an export takes values of tunables only", settings.options.front().first));
  KERF_TRY(material.tunables, resolve_tunables(candidate, settings.tunables));
  material.target = candidate.target;
  material.origin = printable(material.task.name + (material.task.description.empty() ? "" : ": ") +
                              material.task.description + "\nKernel " + file.filename().string() + ".");
  material.folder = file.parent_path();
  return material;
}

/// Every shape with the values that the export has for it passes the judge's checks; nothing is timed.
Status verify_shapes(const exporting::Winner& winner, const std::vector<ShapeSet>& shapes, const ExportOptions& options,
                     const Environment& environment, Console& console) {
  std::map<Bindings, std::vector<ShapeSet>> by_tunables;
  for (const ShapeSet& shape : shapes) {
    const auto own = winner.by_shape.find(shape.name);
    by_tunables[own == winner.by_shape.end() ? winner.tunables : own->second].push_back(shape);
  }
  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, 0);
  KERF_TRY(const auto session, TargetSession::open(winner.task, winner.target, options.device, context));
  NullObserver silent;
  JudgeOptions judge_options;
  judge_options.skip_timing = true;
  Candidate candidate = winner.candidate;
  candidate.target = winner.target;
  for (const auto& [tunables, sets] : by_tunables) {
    Task task = winner.task;
    task.shapes = sets;
    console.err << fmt::format("verifying the kernel on {} {}\n", sets.size(), sets.size() == 1 ? "shape" : "shapes")
                << std::flush;
    KERF_TRY(const auto judge, Judge::open(task, session->tools(), judge_options, silent));
    KERF_TRY(const Evaluation verdict, judge->evaluate(candidate, tunables, silent));
    if (!std::holds_alternative<Measurement>(verdict.outcome))
      return fail(Errc::invalid_input,
                  fmt::format("the kernel cannot be exported: {} at gate '{}': {}", outcome_words(verdict.outcome),
                              outcome_gate(verdict.outcome), printable(outcome_message(verdict.outcome))));
  }
  return {};
}

/// Compiles for more shapes, when they pass the judge's checks too.
Status add_shapes(exporting::Winner& winner, const ExportOptions& options) {
  for (const auto& text : options.shapes) {
    KERF_TRY(const auto sets, exporting::parse_shapes(text, winner.task));
    for (const ShapeSet& set : sets) {
      if (std::any_of(winner.more_shapes.begin(), winner.more_shapes.end(),
                      [&](const ShapeSet& known) { return known.symbols == set.symbols; }))
        continue;
      KERF_TRY(winner.by_shape[set.name], exporting::tunables_for(winner, set));
      winner.more_shapes.push_back(set);
    }
  }
  if (winner.more_shapes.size() > exporting::kMaxInstances)
    return fail(Errc::invalid_input, fmt::format("--shapes names {} shapes; at most {} are compiled for",
                                                 winner.more_shapes.size(), exporting::kMaxInstances));
  return {};
}

/// Builds and runs the check program where the target can run, and says what came of it.
Status check_files(const exporting::Exporter& exporter, const exporting::Winner& winner, exporting::Format format,
                   const std::vector<exporting::File>& files, const ExportOptions& options,
                   const Environment& environment, Console& console) {
  const auto say = [&](const std::string& words, Colour colour) {
    console.err << paint(words, colour, console.err_style) << "\n" << std::flush;
  };
  if (options.no_check) {
    say("not checked: --no-check", Colour::yellow);
    return {};
  }
  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, 0);
  if (const auto session = TargetSession::open(winner.task, winner.target, options.device, context); !session) {
    say(fmt::format("not checked: {} cannot be run here: {}", winner.target, printable(session.error().message)),
        Colour::yellow);
    return {};
  }
  const auto path = environment.variables.find("PATH");
  KERF_TRY(const CheckedExport checked,
           run_export_check(exporter, winner, format, files,
                            path == environment.variables.end() ? "/usr/bin:/bin" : path->second, *sandbox));
  say((checked.ran ? "checked: " : "not checked: ") + checked.words, checked.ran ? Colour::green : Colour::yellow);
  return {};
}

OutputFile place_of(const exporting::File& file, const std::filesystem::path& out, const ExportOptions& options) {
  return {out / file.path, OutputKind::exported_code, {options.task, options.kernel}};
}

Status write_files(const std::vector<exporting::File>& files, const std::filesystem::path& out,
                   const ExportOptions& options, Console& console) {
  for (const auto& file : files) {
    KERF_TRY_VOID(write_output(place_of(file, out, options), file.text));
    console.out << (out / file.path).string() << "\n";
  }
  console.out << std::flush;
  return {};
}

}  // namespace

Status export_run(const ExportOptions& options, const Environment& environment, Console& console) {
  auto known = exporting::format_names();
  const auto for_pytorch = exporting::model_format_names();
  if (std::find(for_pytorch.begin(), for_pytorch.end(), options.format) != for_pytorch.end())
    return export_model(options, console);
  const auto format = exporting::format_from_name(options.format);
  if (!format) {
    known.insert(known.end(), for_pytorch.begin(), for_pytorch.end());
    return fail(Errc::invalid_input, fmt::format("unknown format '{}'{}; choose one of: {}", options.format,
                                                 did_you_mean(options.format, known), join(known, ", ")));
  }
  const bool own_kernel = !options.kernel.empty() && !options.task.empty();
  if (options.run.empty() != own_kernel || options.kernel.empty() != options.task.empty())
    return fail(Errc::invalid_input, "name a run, or a kernel of your own with --task FILE --kernel FILE");
  if (!own_kernel && !options.set.empty())
    return fail(Errc::invalid_input,
                fmt::format("--set {}: a run's kernel is exported with the values it was measured with; --step chooses "
                            "another of its kernels, --set goes with --kernel",
                            options.set.front()));
  if (own_kernel && !options.step.empty())
    return fail(Errc::invalid_input, "--step names a kernel of a run; it does not go with --kernel");
  KERF_TRY_VOID(check_output_folder(options.out));
  KERF_TRY(const Material material, own_kernel ? from_kernel(options, environment) : from_run(options));
  const std::filesystem::path out =
      options.out.empty() ? material.folder / ("export-" + options.format) : std::filesystem::path(options.out);
  KERF_TRY_VOID(check_output_folder(out));
  exporting::Winner winner{material.task,     material.target, material.candidate, material.tunables,
                           material.by_shape, material.origin, options.name,       today()};
  KERF_TRY_VOID(check_target_name(winner.target));
  const exporting::Exporter* exporter = find_target(winner.target)->exporter;
  if (exporter == nullptr)
    return fail(Errc::invalid_input, fmt::format("kernels for target '{}' cannot be exported", winner.target));
  KERF_TRY_VOID(add_shapes(winner, options));
  KERF_TRY(const auto files, exporting::export_files(*exporter, winner, *format));
  for (const auto& file : files) KERF_TRY_VOID(check_output(place_of(file, out, options)));
  std::vector<ShapeSet> unverified = winner.more_shapes;
  if (!material.judged)
    for (const ShapeSet& set : shapes_for(winner.task, winner.target)) unverified.push_back(set);
  if (!unverified.empty()) {
    KERF_TRY_VOID(verify_shapes(winner, unverified, options, environment, console));
  }
  KERF_TRY_VOID(check_files(*exporter, winner, *format, files, options, environment, console));
  KERF_TRY_VOID(write_files(files, out, options, console));
  if (!material.warning.empty()) console.err << paint(material.warning, Colour::yellow, console.err_style) << "\n";
  for (const auto& [shape, tunables] : material.by_shape)
    console.err << fmt::format("shape '{}' has tuned values of its own\n", one_line(shape));
  console.err << remark(
                     "next: " + next_words(*format, *exporter, out.string(), exporting::function_name(winner)) + "\n",
                     console.err_style)
              << std::flush;
  return {};
}

}  // namespace kerf::cli
