#include "app/cli/cli.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "app/cli/commands.hpp"
#include "app/cli/run_commands.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

namespace kerf::cli {
namespace {

constexpr const char* kIntroduction =
    R"(Kerf judges compute kernels: it builds a kernel, proves it right, times it, and says how close to the
hardware's limit it runs. Kernels are untrusted: they run in a sandbox and cannot fool the clock or the check.)";

constexpr const char* kExamples = R"(First steps:
  kerf doctor                                      what works on this machine, and how to get the rest
  kerf doctor --calibrate                          measure the machine's peaks once (for '% of speed of light')
  kerf tasks                                       the sample tasks
  kerf check tasks/softmax.toml                    what a task asks for and what it costs at least
  kerf naive tasks/softmax.toml --target cpu       a plain kernel to start from
  kerf optimize tasks/rmsnorm.toml                 find a fast kernel
  kerf eval tasks/softmax.toml mine.cpp            judge a kernel
  kerf eval tasks/softmax.toml a.cu b.cu --json    judge several, one JSON object a line
  kerf eval tasks/matmul.toml k.cl --set TILE=32   choose a tunable's value
  kerf tune tasks/matmul.toml k.cl --out best.cl   find the best values of all tunables
  kerf show softmax-cpu                            what a run found (the beginning of its name is enough)
  kerf explain softmax-cpu best                    how its winner came about
  kerf report softmax-cpu                          the same as a page to look at
  kerf export softmax-cpu --format cmake           its winner as files that need no Kerf
  kerf prove softmax-cpu                           all that is needed to check the winner again

A kernel says in a comment how it is run (docs/formats.md):
  /* kerf
  target:  opencl
  tune:    BLOCK = {64, 128, 256}
  launch:  softmax<<<rows, BLOCK>>>(x, y)
  */

Exit codes: 0 judged, whatever the verdict; 2 misuse or bad input; 1 the environment failed.)";

struct Options {
  std::string nvrtc;
  EvalOptions eval;
  OptimizeOptions optimize;
  CheckOptions check;
  TasksOptions tasks;
  DoctorOptions doctor;
  SettingsOptions settings;
  NaiveOptions naive;
  ShowOptions show;
  ExplainOptions explain;
  ReportOptions report;
  ExportOptions exported;
  ProveOptions proved;
  SynthOptions synth;
  TuneCommand tune;
};

/// An option whose help reads "--shape NAME".
template <class T>
CLI::Option* add_value(CLI::App* command, const char* name, T& into, const char* type, const char* help) {
  return command->add_option(name, into, help)->type_name(type);
}

/// A budget of zero would mean no budget at all to those who read it.
CLI::Validator above_zero() {
  return {[](const std::string& text) {
            double number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            const bool fine = error == std::errc() && end == text.data() + text.size() && number > 0 && number <= 1e9;
            return fine ? std::string() : "expected seconds, more than 0: " + text;
          },
          ""};
}

/// A seed: 64 bits, not negative. The parser's own numbers wrap.
void add_seed(CLI::App* command, std::optional<std::uint64_t>& into, const char* help) {
  command
      ->add_option_function<std::string>(
          "--seed",
          [&into](const std::string& text) {
            std::uint64_t seed = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
            if (error != std::errc() || end != text.data() + text.size())
              throw CLI::ValidationError("--seed " + text, "expected a whole number from 0 to 18446744073709551615");
            into = seed;
          },
          help)
      ->type_name("NUMBER");
}

template <class T>
void add_file(CLI::App* command, const char* name, T& into, const char* help) {
  command->add_option(name, into, help)->required()->type_name("");
}

constexpr const char* kEvalNotes =
    R"(Tiers, cheapest first: parse, compile, static, small shape, all shapes, coarse timing, fine timing. A kernel stops at
the first one it fails, with the evidence.

Examples:
  kerf eval tasks/softmax.toml mine.cpp                          the kernel's header or extension names the target
  kerf eval tasks/rmsnorm.toml a.cl b.cl --set BLOCK=128         several kernels, one value for a tunable
  kerf eval tasks/matmul.toml mine.cu --shape tail --verify-only only check, on one shape
  kerf eval tasks/gelu.toml mine.cpp --set measure.max_rounds=20 measure for less long)";

void define_eval(CLI::App& app, EvalOptions& options) {
  auto* command = app.add_subcommand("eval", "Judge kernels: build, verify, measure");
  command->footer(kEvalNotes);
  add_file(command, "TASK", options.task, "The task's .toml file");
  add_file(command, "KERNEL", options.kernels, "Kernel files (.cpp, .cl, .cu), judged in this order");
  add_value(command, "--target", options.target, "NAME",
            "cpu, opencl or cuda; otherwise what the kernel says, or its extension");
  add_value(command, "--device", options.device, "NAME",
            "Which device of the target, as 'kerf doctor' names it: opencl:1");
  add_value(command, "--shape", options.shape, "NAME", "Only this shape set of the task");
  command->add_flag("--json", options.json, "One JSON object per kernel on stdout, nothing else");
  add_value(command, "--set", options.set, "NAME=VALUE",
            "A tunable (BLOCK=256) or a setting (measure.max_rounds=20); may be repeated")
      ->expected(1)
      ->take_all();
  command->add_flag("--no-cache", options.no_cache, "Build and judge again, even if the verdict is known");
  command->add_flag("--verify-only", options.verify_only, "Stop before timing");
  add_seed(command, options.seed, "Seed of the test data; otherwise a fresh one");
  add_value(command, "--jobs", options.jobs, "NUMBER", "Compilers side by side (default: one per core)")
      ->check(CLI::Range(0, 1024).description(""));
}

constexpr const char* kTuneNotes =
    R"(Looks briefly at tuples of the kernel's tunables (checked on the smallest shape, timed without baselines), spends more time
on the best of them, and judges the winner like 'kerf eval'.

Examples:
  kerf tune tasks/matmul.toml mine.cl --evals 40 --out tuned.cl    the same kernel with the best values as defaults
  kerf tune tasks/softmax.toml mine.cpp --time 120 --json          within two minutes, as JSON
  kerf tune tasks/softmax.toml mine.cpp --all 2                    every tuple, twice)";

void define_tune(CLI::App& app, TuneCommand& options) {
  auto* command = app.add_subcommand("tune", "Find the best values of a kernel's tunables");
  command->footer(kTuneNotes);
  add_file(command, "TASK", options.task, "The task's .toml file");
  add_file(command, "KERNEL", options.kernel, "Kernel file with 'tune:' lines in its header");
  add_value(command, "--target", options.target, "NAME",
            "cpu, opencl or cuda; otherwise what the kernel says, or its extension");
  add_value(command, "--device", options.device, "NAME",
            "Which device of the target, as 'kerf doctor' names it: opencl:1");
  add_value(command, "--shape", options.shape, "NAME", "Only this shape set of the task");
  add_value(command, "--evals", options.evaluations, "NUMBER", "Looks at tuples, repeated ones included (default 60)")
      ->check(CLI::Range(1, 1000000).description(""));
  add_value(command, "--time", options.seconds, "SECONDS", "Stop looking after this long (default: no limit)")
      ->check(above_zero());
  add_value(command, "--rounds", options.rounds, "NUMBER", "Timed batches of a first look (default 5)")
      ->check(CLI::Range(1, 1000).description(""));
  add_value(command, "--all", options.all, "PASSES", "Look at every tuple, this many times, instead of searching")
      ->check(CLI::Range(1, 100).description(""));
  add_seed(command, options.seed, "Seed of the search and the test data (default 1)");
  add_value(command, "--jobs", options.jobs, "NUMBER", "Compilers side by side (default: one per core)")
      ->check(CLI::Range(0, 1024).description(""));
  add_value(command, "--set", options.set, "NAME=VALUE", "A setting (measure.max_rounds=20); may be repeated")
      ->expected(1)
      ->take_all();
  command->add_flag("--json", options.json, "One JSON object on stdout, nothing else");
  add_value(command, "--out", options.out, "FILE", "Write the kernel with the best values as defaults");
}

constexpr const char* kOptimizeNotes =
    R"(The search composes kernels from built-in families, verifies and times every one, keeps the best of each kind, and measures the
finalists again. It needs no network and no language model. Ctrl-C ends it cleanly; --resume goes on, also after a crash.

Examples:
  kerf optimize tasks/rmsnorm.toml                             on this machine's processor
  kerf optimize tasks/matmul.toml --target cuda --time 300     for five minutes
  kerf optimize tasks/gelu.toml --evals 40 --seed 7 --json     the best evaluation as JSON
  kerf optimize --resume rmsnorm-cpu --evals 300               more of the same)";

void define_optimize(CLI::App& app, OptimizeOptions& options) {
  auto* command = app.add_subcommand("optimize", "Search for the fastest kernel of a task");
  command->footer(kOptimizeNotes);
  command->add_option("TASK", options.task, "The task's .toml file")->type_name("");
  add_value(command, "--target", options.target, "NAME", "cpu (default), opencl or cuda");
  add_value(command, "--device", options.device, "NAME",
            "Which device of the target, as 'kerf doctor' names it: opencl:1");
  add_value(command, "--evals", options.evaluations, "NUMBER",
            "Most evaluations (default: 100, or no limit with --time); 0: no limit")
      ->check(CLI::Range(0, 10000000).description(""));
  add_value(command, "--time", options.seconds, "SECONDS", "Most time, before the finalists are measured again")
      ->check(above_zero());
  add_seed(command, options.seed, "Seed of every choice and of the test data; otherwise a fresh one");
  add_value(command, "--from", options.from, "KERNEL",
            "A kernel of yours to start from: judged first, its tunables tuned; may be repeated")
      ->expected(1)
      ->take_all();
  add_value(command, "--search", options.search, "NAME", "kerf (default); published or random, for comparison");
  add_value(command, "--out", options.out, "FOLDER", "The run's folder (default: runs/<task>-<target>-<time>)");
  add_value(command, "--resume", options.resume, "RUN",
            "Go on with a run: its folder, or the beginning of its name in runs/");
  command->add_flag("--json", options.json, "One JSON object on stdout at the end, nothing else");
  add_value(command, "--set", options.set, "NAME=VALUE",
            "A setting, for example search.patience=30 or measure.max_rounds=20; may be repeated")
      ->expected(1)
      ->take_all();
  add_value(command, "--jobs", options.jobs, "NUMBER", "Compilers side by side (default: one per core)")
      ->check(CLI::Range(0, 1024).description(""));
}

void define_others(CLI::App& app, Options& options) {
  add_value(&app, "--nvrtc", options.nvrtc, "FOLDER", "Where libnvrtc and its headers are, for CUDA (as KERF_NVRTC)");
  auto* check = app.add_subcommand("check", "Read a task: shapes, costs, floors, and whether it is worth judging with");
  check->footer("Example:\n  kerf check tasks/softmax.toml");
  add_file(check, "TASK", options.check.task, "The task's .toml file");
  check->add_flag("--json", options.check.json, "JSON on stdout");
  add_seed(check, options.check.seed, "Seed of the test data (default 1)");
  auto* tasks = app.add_subcommand("tasks", "List task files");
  tasks->footer("Example:\n  kerf tasks tasks/cpp_reference");
  tasks->add_option("FOLDER", options.tasks.folder, "Where to look (default: tasks/)")->type_name("");
  auto* settings = app.add_subcommand("settings", "List what --set can change");
  settings->footer("Example:\n  kerf settings\n  kerf optimize tasks/gelu.toml --set search.patience=30");
  settings->add_flag("--json", options.settings.json, "JSON on stdout");
  settings->add_flag("--markdown", options.settings.markdown, "As docs/settings.md");
  auto* doctor = app.add_subcommand("doctor", "What works on this machine, and how to get the rest");
  doctor->footer("Example:\n  kerf doctor --calibrate");
  doctor->add_flag("--json", options.doctor.json, "JSON on stdout");
  doctor->add_flag("--calibrate", options.doctor.calibrate, "Measure peak rates of every device and keep them");
  auto* naive = app.add_subcommand("naive", "Print the plain kernel generated from a task, as a starting point");
  naive->footer("Example:\n  kerf naive tasks/softmax.toml --target opencl > mine.cl");
  add_file(naive, "TASK", options.naive.task, "The task's .toml file");
  add_value(naive, "--target", options.naive.target, "NAME", "cpu, opencl or cuda")->required();
  auto* synth = app.add_subcommand("synth", "Print a kernel composed from the kernel families, untuned");
  synth->footer(
      "Examples:\n  kerf synth tasks/softmax.toml --target cpu --list\n  kerf synth tasks/softmax.toml --target cpu "
      "--start 2 > mine.cpp");
  add_file(synth, "TASK", options.synth.task, "The task's .toml file");
  add_value(synth, "--target", options.synth.target, "NAME", "cpu, opencl or cuda")->required();
  synth->add_flag("--list", options.synth.list, "One line per composition instead");
  add_value(synth, "--start", options.synth.start, "NUMBER", "Which composition (default 0, the best guess)");
}

constexpr const char* kRunHelp = "A run folder, or the beginning of the name of one in runs/";
constexpr const char* kStepHelp = "A step's number, 'best', or the beginning of a kernel's id";

void define_runs(CLI::App& app, Options& options) {
  auto* show = app.add_subcommand("show", "What a run found: its best kernel, outcomes, archive");
  show->footer("Examples:\n  kerf show rmsnorm-cpu\n  kerf show rmsnorm-cpu --source best > best.cpp");
  add_file(show, "RUN", options.show.run, kRunHelp);
  show->add_flag("--json", options.show.json, "One JSON object on stdout, nothing else");
  add_value(show, "--source", options.show.step, "STEP",
            "Print a kernel instead: a step's number, a kernel's id, or the best")
      ->expected(0, 1);
  add_value(show, "--top", options.show.top, "NUMBER", "Rows of the table of kernels (default: 10)")
      ->check(CLI::Range(0, 100000).description(""));
  auto* explain =
      app.add_subcommand("explain", "How a search went, or how one kernel came about and why it was kept or refused");
  explain->footer(
      "Examples:\n  kerf explain rmsnorm-cpu\n  kerf explain rmsnorm-cpu best --diff\n  kerf explain rmsnorm-cpu 17");
  add_file(explain, "RUN", options.explain.run, kRunHelp);
  explain->add_option("STEP", options.explain.step, kStepHelp)->type_name("");
  explain->add_flag("--diff", options.explain.diff, "With the differences between each kernel and its parent");
  auto* page = app.add_subcommand("report", "Write a run as one HTML page: charts, archive, lineage, sources");
  page->footer("Example:\n  kerf report rmsnorm-cpu --out report.html");
  add_file(page, "RUN", options.report.run, kRunHelp);
  add_value(page, "--out", options.report.out, "FILE", "Where to write it (default: report.html in the run folder)");
  auto* files = app.add_subcommand("export", "Write a run's best kernel as files that need no Kerf");
  files->footer(
      "Formats:\n  source    kernel, launcher and dispatcher\n  c-header  the same in one header\n"
      "  cmake     source with a CMakeLists.txt and a program that checks it\n\n"
      "Example:\n  kerf export rmsnorm-cpu --format cmake --out rmsnorm");
  add_file(files, "RUN", options.exported.run, kRunHelp);
  add_value(files, "--format", options.exported.format, "NAME", "source (default), c-header or cmake");
  add_value(files, "--out", options.exported.out, "FOLDER",
            "Where to write (default: export-FORMAT in the run folder)");
  add_value(files, "--step", options.exported.step, "STEP",
            "Another kernel than the best: a step's number or a kernel's id");
}

void define_prove(CLI::App& app, ProveOptions& options) {
  auto* command =
      app.add_subcommand("prove", "Write all that is needed to check a run's best kernel again, or check it");
  command->footer(
      "With --check: every file is held to its hash, then the kernel is built, verified and timed again on fresh "
      "data.\n"
      "Exit code 2 when a file was changed or the claim does not hold.\n\n"
      "Examples:\n  kerf prove rmsnorm-cpu --out proof\n  kerf prove --check proof");
  command->add_option("RUN", options.run, kRunHelp)->type_name("");
  add_value(command, "--step", options.step, "STEP", "Another kernel than the best: a step's number or a kernel's id");
  add_value(command, "--out", options.out, "FOLDER", "Where to write (default: proof in the run folder)");
  add_value(command, "--check", options.check, "FOLDER", "Check the proof in this folder");
  add_value(command, "--device", options.device, "NAME", "With --check: which device of the target");
  add_value(command, "--set", options.set, "NAME=VALUE",
            "With --check: a setting (measure.max_rounds=20); may be repeated")
      ->expected(1)
      ->take_all();
  add_seed(command, options.seed, "With --check: seed of the test data; otherwise a fresh one");
  command->add_flag("--json", options.json, "One JSON object on stdout, nothing else");
}

/// The long names of the options of a command and of the program itself.
std::vector<std::pair<std::string, const CLI::Option*>> long_options(const CLI::App& app, const CLI::App& scope) {
  std::vector<std::pair<std::string, const CLI::Option*>> found;
  for (const auto* place : {&scope, &app}) {
    for (const auto* option : place->get_options())
      for (const auto& name : option->get_lnames()) found.emplace_back("--" + name, option);
    if (&scope == &app) break;
  }
  return found;
}

/// Unknown commands and options, with the nearest known one; the parser's own words name none. Options of the program
/// may stand before the command, with a value.
Status check_words(const CLI::App& app, const std::vector<std::string>& args) {
  const CLI::App* scope = &app;
  for (std::size_t i = 0; i < args.size() && args[i] != "--"; ++i) {
    const std::string& arg = args[i];
    if (!arg.starts_with('-')) {
      if (scope != &app) continue;
      std::vector<std::string> names;
      for (const auto* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
      if (std::find(names.begin(), names.end(), arg) == names.end())
        return fail(Errc::invalid_input, fmt::format("unknown command '{}'{}; choose one of: {} (see kerf --help)", arg,
                                                     did_you_mean(arg, names), join(names, ", ")));
      scope = app.get_subcommand(arg);
    } else if (arg.starts_with("--")) {
      const auto known = long_options(app, *scope);
      const std::string name = arg.substr(0, arg.find('='));
      const auto option = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == name; });
      if (option != known.end()) {
        if (arg.size() == name.size() && option->second->get_items_expected_min() > 0) ++i;  // its value
        continue;
      }
      std::vector<std::string> names;
      for (const auto& one : known)
        if (std::find(names.begin(), names.end(), one.first) == names.end()) names.push_back(one.first);
      return fail(Errc::invalid_input, fmt::format("unknown option '{}'{}; choose one of: {}", name,
                                                   did_you_mean(name, names), join(names, ", ")));
    }
  }
  return {};
}

int exit_code(const Error& error) {
  return error.code == Errc::invalid_input || error.code == Errc::not_found ? kMisuse : kEnvironment;
}

Status dispatch(const CLI::App& app, const Options& options, const Environment& environment, Console& console) {
  if (app.got_subcommand("eval")) return eval(options.eval, environment, console);
  if (app.got_subcommand("tune")) return tune_kernel(options.tune, environment, console);
  if (app.got_subcommand("optimize")) return optimize(options.optimize, environment, console);
  if (app.got_subcommand("check")) return check(options.check, environment, console);
  if (app.got_subcommand("tasks")) return tasks(options.tasks, environment, console);
  if (app.got_subcommand("settings")) return settings(options.settings, environment, console);
  if (app.got_subcommand("doctor")) return doctor(options.doctor, environment, console);
  if (app.got_subcommand("synth")) return synth(options.synth, environment, console);
  if (app.got_subcommand("show")) {
    ShowOptions chosen = options.show;
    chosen.source = app.get_subcommand("show")->count("--source") > 0;
    return show(chosen, environment, console);
  }
  if (app.got_subcommand("report")) return report(options.report, environment, console);
  if (app.got_subcommand("export")) return export_run(options.exported, environment, console);
  if (app.got_subcommand("prove")) return prove(options.proved, environment, console);
  if (app.got_subcommand("explain")) return explain(options.explain, environment, console);
  return naive(options.naive, environment, console);
}

int run_worker(const std::vector<std::string>& args) {
  if (args.size() < 2) return kMisuse;
  return worker_main(args[1], std::span(args).subspan(2));
}

}  // namespace

int run(const std::vector<std::string>& args, const Environment& environment, Console& console) {
  if (!args.empty() && args[0] == "worker") return run_worker(args);

  CLI::App app(kIntroduction, "kerf");
  app.footer(kExamples);
  app.get_formatter()->label("REQUIRED", "");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Subcommands", "Commands");
  app.set_version_flag("--version", std::string("kerf ") + kKerfVersion);
  app.require_subcommand(1);
  app.fallthrough();
  Options options;
  define_optimize(app, options.optimize);
  define_eval(app, options.eval);
  define_tune(app, options.tune);
  define_others(app, options);
  define_runs(app, options);
  define_prove(app, options.proved);

  if (args.empty()) {
    console.out << app.help() << std::flush;
    return kMisuse;
  }
  if (auto status = check_words(app, args); !status) {
    console.err << error_text(status.error(), console.err_style);
    return kMisuse;
  }
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked, console.out, console.err);
  } catch (const CLI::ParseError& error) {
    std::string command;
    for (const auto* chosen : app.get_subcommands()) command = " " + chosen->get_name();
    console.err << error_text({Errc::invalid_input, fmt::format("{}; see kerf{} --help", error.what(), command)},
                              console.err_style);
    return kMisuse;
  }
  Environment effective = environment;
  if (!options.nvrtc.empty()) effective.variables["KERF_NVRTC"].insert(0, options.nvrtc + ":");
  const Status status = dispatch(app, options, effective, console);
  if (status) return kJudged;
  console.out << std::flush;
  console.err << error_text(status.error(), console.err_style) << std::flush;
  return exit_code(status.error());
}

}  // namespace kerf::cli
