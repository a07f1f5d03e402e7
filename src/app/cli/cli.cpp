#include "app/cli/cli.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <span>

#include "app/cli/commands.hpp"
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
  kerf eval tasks/softmax.toml mine.cpp            judge a kernel
  kerf eval tasks/softmax.toml a.cu b.cu --json    judge several, one JSON object a line
  kerf eval tasks/matmul.toml k.cl --set TILE=32   choose a tunable's value

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
  CheckOptions check;
  TasksOptions tasks;
  DoctorOptions doctor;
  NaiveOptions naive;
};

void define_eval(CLI::App& app, EvalOptions& options) {
  auto* command = app.add_subcommand("eval", "Judge kernels: build, verify, measure");
  command->add_option("TASK", options.task, "The task's .toml file")->required();
  command->add_option("KERNEL", options.kernels, "Kernel files (.cpp, .cl, .cu), judged in this order")->required();
  command->add_option("--target", options.target,
                      "cpu, opencl or cuda; otherwise what the kernel says, or its extension");
  command->add_option("--device", options.device, "Which device of the target, as 'kerf doctor' names it: opencl:1");
  command->add_option("--shape", options.shape, "Only this shape set of the task");
  command->add_flag("--json", options.json, "One JSON object per kernel on stdout, nothing else");
  command
      ->add_option("--set", options.set, "A tunable (BLOCK=256) or a setting (measure.max_rounds=20); may be repeated")
      ->expected(1)
      ->take_all()
      ->type_name("NAME=VALUE");
  command->add_flag("--no-cache", options.no_cache, "Build and judge again, even if the verdict is known");
  command->add_flag("--verify-only", options.verify_only, "Stop before timing");
  command->add_option("--seed", options.seed, "Seed of the test data; otherwise a fresh one");
  command->add_option("--jobs", options.jobs, "Compilers side by side (default: one per core)")
      ->check(CLI::Range(0, 1024));
}

void define_others(CLI::App& app, Options& options) {
  app.add_option("--nvrtc", options.nvrtc, "Folder with libnvrtc and its headers, for CUDA (as KERF_NVRTC)");
  auto* check = app.add_subcommand("check", "Read a task: shapes, costs, floors, and whether it is worth judging with");
  check->add_option("TASK", options.check.task, "The task's .toml file")->required();
  check->add_flag("--json", options.check.json, "JSON on stdout");
  check->add_option("--seed", options.check.seed, "Seed of the test data");
  auto* tasks = app.add_subcommand("tasks", "List task files");
  tasks->add_option("FOLDER", options.tasks.folder, "Where to look (default: tasks/)");
  auto* doctor = app.add_subcommand("doctor", "What works on this machine, and how to get the rest");
  doctor->add_flag("--json", options.doctor.json, "JSON on stdout");
  doctor->add_flag("--calibrate", options.doctor.calibrate, "Measure peak rates of every device and keep them");
  auto* naive = app.add_subcommand("naive", "Print the plain kernel generated from a task, as a starting point");
  naive->add_option("TASK", options.naive.task, "The task's .toml file")->required();
  naive->add_option("--target", options.naive.target, "cpu, opencl or cuda")->required();
}

/// Unknown commands and options, with the nearest known one; the parser's own words name none.
Status check_words(const CLI::App& app, const std::vector<std::string>& args) {
  const CLI::App* scope = &app;
  for (const auto& arg : args) {
    if (arg == "--") break;
    if (!arg.starts_with('-')) {
      if (scope != &app) continue;
      std::vector<std::string> names;
      for (const auto* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
      const auto known = std::find(names.begin(), names.end(), arg);
      if (known == names.end())
        return fail(Errc::invalid_input, fmt::format("unknown command '{}'{}; commands are {} (see kerf --help)", arg,
                                                     did_you_mean(arg, names), join(names, ", ")));
      scope = app.get_subcommand(arg);
    } else if (arg.starts_with("--")) {
      std::vector<std::string> names;
      for (const auto* place : {scope, &app})
        for (const auto* option : place->get_options())
          for (const auto& name : option->get_lnames())
            if (std::find(names.begin(), names.end(), "--" + name) == names.end()) names.push_back("--" + name);
      const std::string name = arg.substr(0, arg.find('='));
      if (std::find(names.begin(), names.end(), name) == names.end())
        return fail(Errc::invalid_input, fmt::format("unknown option '{}'{}; options are {}", name,
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
  if (app.got_subcommand("check")) return check(options.check, environment, console);
  if (app.got_subcommand("tasks")) return tasks(options.tasks, environment, console);
  if (app.got_subcommand("doctor")) return doctor(options.doctor, environment, console);
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
  app.set_version_flag("--version", std::string("kerf ") + kKerfVersion);
  app.require_subcommand(1);
  app.fallthrough();
  Options options;
  define_eval(app, options.eval);
  define_others(app, options);

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
