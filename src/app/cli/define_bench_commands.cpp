#include <fmt/format.h>

#include "app/cli/define_commands.hpp"
#include "app/cli/define_options.hpp"

namespace kerf::cli {
namespace {

constexpr const char* kBenchNotes =
    R"(Every problem is imported from its PyTorch file, searched for, exported as a ModelNew and timed beside eager PyTorch and
torch.compile. What fails is a row of the table and stays in every denominator. The same command with the same --out goes on
with what is missing; docs/bench.md says what the figures mean.

Budgets: --time is for the whole command, which ends within it; --task-time and --evals are for each search. With --time
alone every problem gets an equal share of what is left.

Examples:
  kerf bench kernelbench --path KernelBench --level 1 --target cuda --time 600
  kerf bench kernelbench --path KernelBench --level 1,2 --problems 1,5-9 --task-time 20 --out runs/kb
  kerf bench robust-kbench --path robust-kbench --problems layernorm,llama_ffw
  kerf bench kernelbench --show --out runs/kb)";

}  // namespace

void define_bench_commands(CLI::App& app, Options& options) {
  auto* command =
      app.add_subcommand("bench", "Run a benchmark of PyTorch models and score it: KernelBench, robust-kbench");
  command->footer(kBenchNotes);
  BenchOptions& bench = options.bench;
  command->add_option("BENCHMARK", bench.suite, "kernelbench or robust-kbench")->required()->type_name("");
  add_value(command, "--path", bench.path, "DIR", "A checkout of the benchmark, or its folder of problems");
  add_value(command, "--level", bench.levels, "LIST",
            "Levels, for example 1,2 (default: all; robust-kbench's other tasks: own)");
  add_value(command, "--problems", bench.problems, "LIST",
            "Numbers, ranges and names, for example 1,5-9 (default: all)");
  add_value(command, "--settings", bench.settings, "WHICH", "Of robust-kbench: single (default) or all");
  add_value(command, "--target", bench.target, "NAME",
            fmt::format("{} (default: {})", target_choices(), default_target()));
  add_value(command, "--device", bench.device, "NAME", "Which device of the target");
  add_value(command, "--evals", bench.evaluations, "NUMBER", "Evaluations of each search (default: no limit)")
      ->check(whole_number(1, 10000000));
  add_value(command, "--task-time", bench.task_seconds, "SECONDS",
            "Time of each search (default: 20 without --time or --evals)")
      ->check(seconds_above_zero());
  add_value(command, "--time", bench.total_seconds, "SECONDS",
            "Time of the whole command; the rest is left to the next call")
      ->check(seconds_above_zero());
  add_value(command, "--task-limit", bench.task_limit, "SECONDS",
            "Most that the import, the comparison, or the search beyond its time may take (default: 300)")
      ->check(seconds_above_zero());
  add_value(command, "--task-memory", bench.task_memory, "GB",
            "Most memory of one problem's processes (default: 90 % of the machine's)")
      ->check(above_zero("gigabytes", 1e6));
  add_value(command, "--timing", bench.timing_seconds, "SECONDS",
            "Time of the rounds beside PyTorch (default: 10; less with --time)")
      ->check(seconds_above_zero());
  command->add_flag("--no-compile", bench.no_compile, "Leave torch.compile out");
  command->add_flag("--retry-failed", bench.retry_failed, "Try problems that failed once more");
  command->add_flag("--show", bench.show_only, "Run nothing: show what --out has");
  add_value(command, "--memory", bench.memory, "FILE", "Where experience is kept (default: a file in --out), or off");
  add_seed(command, bench.seed, "Seed of every choice and of the test data; otherwise a fresh one");
  add_value(command, "--out", bench.out, "FOLDER", "The bench's folder (default: runs/<benchmark>-<target>)");
  add_value(command, "--set", bench.set, "NAME=VALUE", "A setting, for example search.patience=30; may be repeated")
      ->expected(1)
      ->take_all();
  command->add_flag("--json", bench.json, "One JSON object on stdout at the end, nothing else");
  add_value(command, "--jobs", bench.jobs, "NUMBER", "Compilers side by side (default: one per core)")
      ->check(whole_number(0, 1024));
}

}  // namespace kerf::cli
