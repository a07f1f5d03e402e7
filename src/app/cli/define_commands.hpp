#pragma once
// The commands with their options and help, as the parser of the command line knows them.

#include <string>

#include "app/cli/bench_commands.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/memory_commands.hpp"
#include "app/cli/run_commands.hpp"
#include "app/cli/skill_commands.hpp"

namespace CLI {
class App;
}

namespace kerf::cli {

/// What was given on the command line, by command.
struct Options {
  std::string nvrtc;
  std::string python;  ///< for model files; "": looked for
  EvalOptions eval;
  OptimizeOptions optimize;
  CheckOptions check;
  TasksOptions tasks;
  DoctorOptions doctor;
  CompareOptions compare;
  NewOptions made;
  RunsOptions runs;
  SettingsOptions settings;
  NaiveOptions naive;
  ShowOptions show;
  ExplainOptions explain;
  ReportOptions report;
  ExportOptions exported;
  ProveOptions proved;
  SynthOptions synth;
  TracesOptions traces;
  PromptsOptions prompts;
  TuneCommand tune;
  MemoryOptions memory;
  CampaignOptions campaign;
  BenchOptions bench;
  SkillsOptions skills;
};

/// `options` is written when the parser runs.
void define_commands(CLI::App& app, Options& options);

/// The parts of `define_commands`.
void define_kernel_commands(CLI::App& app, Options& options);
void define_run_commands(CLI::App& app, Options& options);
void define_memory_commands(CLI::App& app, Options& options);
void define_skill_commands(CLI::App& app, Options& options);
void define_bench_commands(CLI::App& app, Options& options);

}  // namespace kerf::cli
