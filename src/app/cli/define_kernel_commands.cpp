#include <fmt/format.h>

#include "app/cli/define_commands.hpp"
#include "app/cli/define_options.hpp"

namespace kerf::cli {
namespace {

constexpr const char* kEvalNotes =
    R"(Tiers, cheapest first: parse, compile, static, small shape, all shapes, timing. A kernel stops at
the first one it fails, with the evidence.

Examples:
  kerf eval tasks/softmax.toml mine.cpp                          the kernel's header or extension names the target
  kerf eval tasks/rmsnorm.toml a.cl b.cl --set BLOCK=128         several kernels, one value for a tunable
  kerf eval tasks/matmul.toml mine.cu --shape tail --verify-only only check, on one shape
  kerf eval tasks/gelu.toml mine.cpp --set measure.max_rounds=20 measure for less long
  kerf eval tasks/gelu.toml mine.cpp --strict --at-least 1       in CI: fails unless it is right and faster than the baseline

Exit codes: 0 judged, whatever the verdict; with --strict only when all is well. 1 the environment failed, or --strict
refused a kernel. 2 misuse or bad input.)";

void define_eval(CLI::App& app, EvalOptions& options) {
  auto* command = app.add_subcommand("eval", "Judge kernels: build, verify, measure");
  command->footer(kEvalNotes);
  add_file(command, "TASK", options.task, "The task's .toml file, or a PyTorch model file (.py)");
  add_file(command, "KERNEL", options.kernels, "Kernel files (" + kernel_extensions() + "), judged in this order");
  add_value(command, "--target", options.target, "NAME",
            target_choices() + "; otherwise what the kernel says, or its extension");
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
  command->add_flag("--strict", options.strict, "For CI: exit code 1 unless every kernel passes every gate");
  add_value(command, "--at-least", options.at_least, "RATIO",
            "With --strict: and unless the whole interval of its speedup is at least this")
      ->check(above_zero("a ratio", 1e6));
  add_seed(command, options.seed, "Seed of the test data; otherwise a fresh one");
  add_value(command, "--jobs", options.jobs, "NUMBER", "Compilers side by side (default, or 0: one per core)")
      ->check(whole_number(0, 1024));
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
  add_file(command, "TASK", options.task, "The task's .toml file, or a PyTorch model file (.py)");
  add_file(command, "KERNEL", options.kernel, "Kernel file with 'tune:' lines in its header");
  add_value(command, "--target", options.target, "NAME",
            target_choices() + "; otherwise what the kernel says, or its extension");
  add_value(command, "--device", options.device, "NAME",
            "Which device of the target, as 'kerf doctor' names it: opencl:1");
  add_value(command, "--shape", options.shape, "NAME", "Only this shape set of the task");
  add_value(command, "--evals", options.evaluations, "NUMBER",
            "Quick timings of tuples, repeated ones included (default 60)")
      ->check(whole_number(1, 1000000));
  add_value(command, "--time", options.seconds, "SECONDS", "Stop timing after this long (default: no limit)")
      ->check(seconds_above_zero());
  add_value(command, "--rounds", options.rounds, "NUMBER", "Timed batches of a quick timing (default 5)")
      ->check(whole_number(1, 1000));
  add_value(command, "--all", options.all, "PASSES", "Look at every tuple, this many times, instead of searching")
      ->check(whole_number(1, 100));
  add_seed(command, options.seed, "Seed of the search and the test data (default 1)");
  add_value(command, "--jobs", options.jobs, "NUMBER", "Compilers side by side (default, or 0: one per core)")
      ->check(whole_number(0, 1024));
  add_value(command, "--set", options.set, "NAME=VALUE",
            "A setting (measure.max_rounds=20; 'kerf settings' lists them); may be repeated")
      ->expected(1)
      ->take_all();
  command->add_flag("--json", options.json, "One JSON object on stdout, nothing else");
  add_value(command, "--out", options.out, "FILE", "Write the kernel with the best values as defaults");
}

constexpr const char* kCompareNotes =
    R"(Both kernels are verified, then timed in turn in the same rounds on the same data, so that what else the machine does
meets both alike. The ratio says how many times as fast A is as B, per timed shape, with its 95 % interval.

With --pytorch a kernel is compared with the PyTorch model that it was made from, in one process of your Python: eager,
torch.compile and the kernel are checked on the model's own inputs and timed in turn (docs/pytorch.md).

Examples:
  kerf compare tasks/softmax.toml mine.cpp runs/softmax-cpu-20260101-120000/best.cpp
  kerf compare tasks/softmax.toml a.cl b.cl --set measure.time_limit_ms=10000 --json
  kerf compare --pytorch model-cuda                           the best kernel of a run of model.py
  kerf compare --pytorch model.py model_new.py                a file that defines ModelNew, as KernelBench has them)";

void define_compare(CLI::App& app, CompareOptions& options) {
  auto* command = app.add_subcommand("compare", "Time two kernels of a task in turn, or one and PyTorch");
  command->footer(kCompareNotes);
  add_file(command, "TASK", options.task, "The task's .toml file, or a PyTorch model file (.py)");
  command->add_option("A", options.first, "Kernel file; with --pytorch a Python file that defines ModelNew")
      ->type_name("");
  command->add_option("B", options.second, "Kernel file, for the same target")->type_name("");
  command->add_flag("--pytorch", options.pytorch,
                    "Compare with PyTorch: TASK is a run of a model file, or the file (.py)");
  add_value(command, "--time", options.seconds, "SECONDS", "With --pytorch: for the timed rounds (default: 10)")
      ->check(seconds_above_zero());
  command->add_flag("--no-compile", options.no_compile, "With --pytorch: without torch.compile");
  add_value(command, "--target", options.target, "NAME",
            target_choices() + "; otherwise what the kernels say, or their extension");
  add_value(command, "--device", options.device, "NAME",
            "Which device of the target, as 'kerf doctor' names it: opencl:1");
  add_value(command, "--shape", options.shape, "NAME", "Only this shape set of the task");
  add_value(command, "--set", options.set, "NAME=VALUE",
            "A tunable of either kernel (BLOCK=256) or a setting (measure.max_rounds=20); may be repeated")
      ->expected(1)
      ->take_all();
  add_seed(command, options.seed, "Seed of the test data; otherwise a fresh one");
  add_value(command, "--jobs", options.jobs, "NUMBER", "Compilers side by side (default, or 0: one per core)")
      ->check(whole_number(0, 1024));
  command->add_flag("--json", options.json, "One JSON object on stdout, nothing else");
}

void define_others(CLI::App& app, Options& options) {
  add_value(&app, "--nvrtc", options.nvrtc, "FOLDER", "Where libnvrtc and its headers are, for CUDA (as KERF_NVRTC)");
  add_value(&app, "--python", options.python, "PATH",
            "The Python with PyTorch that model files run in (as KERF_PYTHON)");
  auto* check = app.add_subcommand("check", "Read a task: shapes, costs, floors, and whether it is worth judging with");
  check->footer(
      "Of several files only that each can be read, and of models what stays with PyTorch, one line each.\n\n"
      "Examples:\n  kerf check tasks/softmax.toml\n  kerf check model.py --print-task > model.toml\n"
      "  kerf check models/*.py");
  check->add_option("TASK", options.check.tasks, "The task's .toml file, or a PyTorch model file (.py); or several")
      ->required()
      ->type_name("");
  add_value(check, "--target", options.check.target, "NAME", "Import a PyTorch model for: " + target_choices());
  check->add_flag("--print-task", options.check.print_task, "Print the text of the task file instead");
  check->add_flag("--json", options.check.json, "JSON on stdout");
  add_seed(check, options.check.seed, "Seed of the test data (default 1)");
  auto* tasks = app.add_subcommand("tasks", "List task files and the samples inside the program");
  tasks->footer("Examples:\n  kerf tasks my_tasks\n  kerf optimize sample:softmax\n  kerf tasks --write samples");
  tasks->add_option("FOLDER", options.tasks.folder, "Where to look (default: tasks/ here, and the samples)")
      ->type_name("");
  add_value(tasks, "--write", options.tasks.write, "FOLDER", "Write the samples as files instead");
  auto* made = app.add_subcommand("new", "Write a task file to start from");
  made->footer("Example:\n  kerf new my_task && kerf check my_task.toml");
  add_file(made, "NAME", options.made.name, "The task's name, or the file to write");
  auto* settings = app.add_subcommand("settings", "List what --set can change");
  settings->footer("Example:\n  kerf settings\n  kerf optimize tasks/gelu.toml --set search.patience=30");
  settings->add_flag("--json", options.settings.json, "JSON on stdout");
  settings->add_flag("--markdown", options.settings.markdown, "As docs/settings.md");
  auto* doctor = app.add_subcommand("doctor", "What works on this machine, and how to get the rest");
  doctor->footer(
      "Examples:\n  kerf doctor --calibrate\n  kerf doctor --model NAME --base-url http://127.0.0.1:8080/v1");
  doctor->add_flag("--json", options.doctor.json, "JSON on stdout");
  doctor->add_flag("--calibrate", options.doctor.calibrate, "Measure peak rates of every device and keep them");
  add_models(doctor, options.doctor.minds);
  auto* naive = app.add_subcommand("naive", "Print the plain kernel generated from a task, as a starting point");
  naive->footer("Example:\n  kerf naive tasks/softmax.toml --target opencl > mine.cl");
  add_file(naive, "TASK", options.naive.task, "The task's .toml file");
  add_value(naive, "--target", options.naive.target, "NAME",
            fmt::format("{} (default: {})", target_choices(), default_target()));
  naive->add_flag("--parallel", options.naive.parallel, "Its outer loop shared among threads (processors)");
  auto* synth = app.add_subcommand("synth", "Print a kernel composed from the kernel families, untuned");
  synth->footer(
      "Examples:\n  kerf synth tasks/softmax.toml --target cpu --list\n  kerf synth tasks/softmax.toml --target cpu "
      "--start 2 > mine.cpp\n  kerf synth model.py --target cuda --json --assume tests/perf/h200.json");
  add_file(synth, "TASK", options.synth.task, "The task's .toml file");
  add_value(synth, "--target", options.synth.target, "NAME",
            fmt::format("{} (default: {})", target_choices(), default_target()));
  synth->add_flag("--list", options.synth.list, "One line per composition instead");
  synth->add_flag("--json", options.synth.json, "The compositions with their groups, bytes and products, as JSON");
  add_value(synth, "--count", options.synth.count, "NUMBER", "How many of them --list and --json give (default all)");
  add_value(synth, "--assume", options.synth.assume, "FILE", "Plan for the device that this JSON file describes");
  add_value(synth, "--start", options.synth.start, "NUMBER", "Which composition (default 0, the best guess)");
}

}  // namespace

void define_kernel_commands(CLI::App& app, Options& options) {
  define_eval(app, options.eval);
  define_tune(app, options.tune);
  define_compare(app, options.compare);
  define_others(app, options);
}

}  // namespace kerf::cli
