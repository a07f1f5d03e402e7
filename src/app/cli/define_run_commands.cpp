#include "app/cli/define_commands.hpp"

#include <fmt/format.h>

#include "app/cli/define_options.hpp"
#include "app/cli/memory_option.hpp"

namespace kerf::cli {
namespace {

constexpr const char* kOptimizeNotes =
    R"(The search composes kernels from built-in families, verifies and times every one, keeps the best of each kind, and measures the
finalists again. It needs no network and no language model; --mind llm asks one, --mind command a program of yours. Ctrl-C ends it cleanly; --resume goes on, also after a crash.

Examples:
  kerf optimize tasks/rmsnorm.toml                             on this machine's processor
  kerf optimize tasks/matmul.toml --target cuda --time 300     for five minutes
  kerf optimize tasks/gelu.toml --evals 40 --seed 7 --json     the best evaluation as JSON
  kerf optimize tasks/gelu.toml --from mine.cpp                start from a kernel of your own
  kerf optimize model.py --time 60                             a PyTorch module (docs/pytorch.md)
  kerf optimize --resume rmsnorm-cpu --evals 300               more of the same
  kerf optimize tasks/gelu.toml --mind builtin,llm --model NAME --base-url http://127.0.0.1:8080/v1 --max-tokens 200000)";

void define_optimize(CLI::App& app, OptimizeOptions& options) {
  auto* command = app.add_subcommand("optimize", "Search for the fastest kernel of a task");
  command->footer(kOptimizeNotes);
  command->add_option("TASK", options.task, "The task's .toml file, or a PyTorch model file (.py)")->type_name("");
  add_value(command, "--target", options.target, "NAME",
            fmt::format("{} (default: that of --from, or {})", target_choices(), default_target()));
  add_value(command, "--device", options.device, "NAME",
            "Which device of the target, as 'kerf doctor' names it: opencl:1");
  add_value(command, "--evals", options.evaluations, "NUMBER",
            "Most evaluations, of a resumed run in total (default: 100, or no limit with --time); 0: no limit")
      ->check(whole_number(0, 10000000));
  add_value(command, "--time", options.seconds, "SECONDS", "Most time, before the finalists are measured again")
      ->check(seconds_above_zero());
  add_seed(command, options.seed, "Seed of every choice and of the test data; otherwise a fresh one");
  add_value(command, "--from", options.from, "KERNEL",
            "A kernel of yours to start from: judged first, its tunables tuned; may be repeated")
      ->expected(1)
      ->take_all();
  add_value(command, "--search", options.search, "NAME", "kerf (default); published or random, for comparison");
  add_value(command, "--memory", options.memory, "FILE", kMemoryHelp);
  add_value(command, "--memory-rule", options.memory_rule, "NAME",
            "How experience is chosen: kerf (default); published or similar, for comparison");
  add_value(command, "--skills", options.skills, "NAME", kSkillsHelp);
  add_value(command, "--out", options.out, "FOLDER", "The run's folder (default: runs/<task>-<target>-<time>)");
  add_value(command, "--resume", options.resume, "RUN",
            "Go on with a run: its folder, or the beginning of its name in runs/");
  add_value(command, "--replay", options.replay, "RUN",
            "A new run that takes the decisions of a recorded one again, with fresh timings");
  command->add_flag("--json", options.json, "One JSON object on stdout at the end, nothing else");
  command->add_flag("--no-compare", options.no_compare,
                    "Of a model file: do not time the winner beside PyTorch at the end");
  add_value(command, "--set", options.set, "NAME=VALUE",
            "A setting, for example search.patience=30; 'kerf settings' lists them; may be repeated")
      ->expected(1)
      ->take_all();
  add_value(command, "--jobs", options.jobs, "NUMBER", "Compilers side by side (default, or 0: one per core)")
      ->check(whole_number(0, 1024));
  add_embedding(command, options.embedding);
  define_minds(command, options.minds);
}

constexpr const char* kRunHelp = "A run folder, or the beginning of the name of one in runs/";
constexpr const char* kStepHelp = "A step's number, 'best', or the beginning of a kernel's id";

void define_runs(CLI::App& app, Options& options) {
  auto* runs = app.add_subcommand("runs", "List runs: task, target, best kernel, state");
  runs->footer("Example:\n  kerf runs --json");
  runs->add_option("FOLDER", options.runs.folder, "Where to look (default: runs/)")->type_name("");
  runs->add_flag("--json", options.runs.json, "One JSON object on stdout, nothing else");
  auto* show = app.add_subcommand("show", "What a run found: its best kernel, outcomes, archive");
  show->footer("Examples:\n  kerf show rmsnorm-cpu\n  kerf show rmsnorm-cpu --source best > best.cpp");
  add_file(show, "RUN", options.show.run, kRunHelp);
  show->add_flag("--json", options.show.json, "One JSON object on stdout, nothing else");
  show->add_flag("--csv", options.show.csv, "Every step as a line of comma-separated values");
  add_value(show, "--source", options.show.step, "STEP",
            "Print a kernel instead: a step's number, a kernel's id, or the best")
      ->expected(0, 1);
  add_value(show, "--top", options.show.top, "NUMBER", "Rows of the table of kernels (default: 10)")
      ->check(whole_number(0, 100000));
  auto* explain =
      app.add_subcommand("explain", "How a search went, or how one kernel came about and why it was kept or refused");
  explain->footer(
      "Examples:\n  kerf explain rmsnorm-cpu\n  kerf explain rmsnorm-cpu best --diff\n  kerf explain rmsnorm-cpu 17");
  add_file(explain, "RUN", options.explain.run, kRunHelp);
  explain->add_option("STEP", options.explain.step, kStepHelp)->type_name("");
  explain->add_flag("--diff", options.explain.diff, "With the differences between each kernel and its parent");
  explain->add_flag("--chat", options.explain.chat, "With what language models were shown for the step, and answered");
  auto* page = app.add_subcommand("report", "Write a run as one HTML page: charts, archive, lineage, sources");
  page->footer("Example:\n  kerf report rmsnorm-cpu --out report.html");
  add_file(page, "RUN", options.report.run, kRunHelp);
  add_value(page, "--out", options.report.out, "FILE", "Where to write it (default: report.html in the run folder)");
  auto* files = app.add_subcommand("export", "Write a run's best kernel as files that need no Kerf");
  files->footer(
      "Formats:\n  source    kernel, launcher and dispatcher\n  c-header  the same in one header\n"
      "  cmake     source with a CMakeLists.txt and a program that checks it\n"
      "Of runs that were made from a PyTorch model file:\n"
      "  kernelbench  one Python file with ModelNew, for KernelBench's evaluator (--out FILE.py)\n"
      "  torch        a Python package with a drop-in module, custom operator and check\n\n"
      "Examples:\n  kerf export rmsnorm-cpu --format cmake --out rmsnorm\n"
      "  kerf export rmsnorm-cpu --shapes rows=64..512:64,cols=4096 --name rms\n"
      "  kerf export model-cuda --format torch --out fast_model\n"
      "  kerf export --task tasks/rmsnorm.toml --kernel mine.cpp --set BLOCK=64 --format c-header");
  files->add_option("RUN", options.exported.run, kRunHelp)->type_name("");
  add_value(files, "--task", options.exported.task, "FILE", "With --kernel: export a kernel of your own instead");
  add_value(files, "--kernel", options.exported.kernel, "FILE", "The kernel; it is verified first");
  add_value(files, "--set", options.exported.set, "NAME=VALUE", "With --kernel: a tunable's value; may be repeated")
      ->expected(1)
      ->take_all();
  add_value(files, "--shapes", options.exported.shapes, "RANGES",
            "More shapes to compile for, verified first: rows=64..256:64,cols=1024; may be repeated")
      ->expected(1)
      ->take_all();
  add_value(files, "--device", options.exported.device, "NAME", "Where they are verified");
  add_value(files, "--format", options.exported.format, "NAME",
            "source (default), c-header, cmake, kernelbench or torch");
  add_value(files, "--out", options.exported.out, "FOLDER", "Where to write (default: in the run folder)");
  add_value(files, "--name", options.exported.name, "NAME", "Of the exported function (default: the task's name)");
  files->add_flag("--no-check", options.exported.no_check,
                  "Do not build and run the check program before the files are written");
  add_value(files, "--step", options.exported.step, "STEP",
            "Another kernel than the best: a step's number or a kernel's id");
}

void define_prove(CLI::App& app, ProveOptions& options) {
  auto* command =
      app.add_subcommand("prove", "Write all that is needed to check a run's best kernel again, or check it");
  command->footer(
      "With --check: every file is held to its hash and to the claim, then the kernel is built, verified and timed "
      "again "
      "on fresh\ndata with your settings. Exit code 0: the claim holds; 2: a file was changed or the claim does not "
      "hold; 3: the kernel is\nright, its speed could not be checked here.\n\n"
      "Examples:\n  kerf prove rmsnorm-cpu --out proof\n  kerf prove --check proof\n"
      "  kerf prove --check proof --task tasks/rmsnorm.toml");
  command->add_option("RUN", options.run, kRunHelp)->type_name("");
  add_value(command, "--step", options.step, "STEP", "Another kernel than the best: a step's number or a kernel's id");
  add_value(command, "--out", options.out, "FOLDER", "Where to write (default: proof in the run folder)");
  add_value(command, "--check", options.check, "FOLDER", "Check the proof in this folder");
  add_value(command, "--task", options.task, "FILE", "With --check: the task that the proof has to be about");
  add_value(command, "--device", options.device, "NAME", "With --check: which device of the target");
  add_value(command, "--set", options.set, "NAME=VALUE",
            "With --check: a setting (measure.max_rounds=20); may be repeated")
      ->expected(1)
      ->take_all();
  add_seed(command, options.seed, "With --check: seed of the test data; otherwise a fresh one");
  command->add_flag("--json", options.json, "One JSON object on stdout, nothing else");
}

void define_prompts(CLI::App& app, PromptsOptions& options) {
  auto* command = app.add_subcommand("prompts", "Prompts of a run or of all runs: how they evolved, what came of each");
  command->footer(
      "RUN may be 'kept': what was kept of all runs of a target, which new runs begin with.\n\n"
      "Examples:\n  kerf prompts list                              what is kept\n"
      "  kerf prompts list rmsnorm-cpu                  those of a run\n  kerf prompts show rmsnorm-cpu p1a2b3c4\n"
      "  kerf prompts diff rmsnorm-cpu p1a2b3c4         with the one it was edited from\n"
      "  kerf prompts diff kept seed p1a2b3c4\n"
      "  kerf prompts export ours.jsonl                 to take elsewhere (- or nothing: stdout)\n"
      "  kerf prompts import theirs.jsonl               without their figures\n"
      "  kerf prompts reset --target cpu                forget them; new runs begin with the seed");
  add_file(command, "ACTION", options.action, "list, show, diff, export, import or reset");
  command->add_option("RUN", options.run, "A run (its folder, or the beginning of its name), 'kept', or a file")
      ->type_name("");
  command->add_option("PROMPT", options.first, "A prompt's id, the beginning of it, or 'seed'")->type_name("");
  command->add_option("OTHER", options.second, "With diff: the one to compare with")->type_name("");
  add_value(
      command, "--target", options.target, "NAME",
      fmt::format("Of kept ones: {} (default: {}; with export and reset: all)", target_choices(), default_target()));
  add_value(command, "--memory", options.memory, "FILE", "The memory they are kept in (default: the user's own)");
}

void define_traces(CLI::App& app, TracesOptions& options) {
  auto* command = app.add_subcommand("traces", "Conversations of a run with language models, for training");
  command->footer("Example:\n  kerf traces export rmsnorm-cpu --out traces.jsonl");
  command->add_option("ACTION", options.action, "export: one JSON object a line (docs/formats.md)")
      ->required()
      ->type_name("");
  add_file(command, "RUN", options.run, kRunHelp);
  add_value(command, "--out", options.out, "FILE", "Where to write (default: stdout)");
}

}  // namespace

void define_run_commands(CLI::App& app, Options& options) {
  define_runs(app, options);
  define_prove(app, options.proved);
  define_traces(app, options.traces);
  define_prompts(app, options.prompts);
}

void define_commands(CLI::App& app, Options& options) {
  define_optimize(app, options.optimize);
  define_kernel_commands(app, options);
  define_run_commands(app, options);
  define_memory_commands(app, options);
  define_skill_commands(app, options);
  define_bench_commands(app, options);
}

}  // namespace kerf::cli
