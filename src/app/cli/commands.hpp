#pragma once
// The commands behind the command line. Each takes its options as a value; an Error becomes the exit code in cli.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/embedding_option.hpp"
#include "app/cli/environment.hpp"
#include "app/cli/mind_options.hpp"
#include "base/result.hpp"
#include "model/task.hpp"
#include "run/run_task.hpp"

namespace kerf::cli {

struct EvalOptions {
  std::string task;
  std::vector<std::string> kernels;
  std::string target;            ///< "": what the kernel's header or file extension says
  std::string device;            ///< "": the first
  std::string shape;             ///< "": all that apply
  std::vector<std::string> set;  ///< "BLOCK=256" (tunables), "measure.max_rounds=20" (settings)
  bool json = false;
  bool no_cache = false;
  bool verify_only = false;
  bool strict = false;  ///< a kernel that does not pass, or is not fast enough, is an error
  double at_least = 0;  ///< with strict: the low end of the speedup's interval must reach this; 0: no demand
  std::optional<std::uint64_t> seed;  ///< none: drawn afresh
  int jobs = 0;                       ///< compilers side by side; 0: one per core
};
Status eval(const EvalOptions& options, const Environment& environment, Console& console);

struct OptimizeOptions {
  std::string task;    ///< "": that of the run that is resumed
  std::string target;  ///< "": cpu, or that of the run
  std::string device;
  std::optional<int> evaluations;     ///< none: the default, or that of the run; 0: no limit
  std::optional<double> seconds;      ///< likewise
  std::optional<std::uint64_t> seed;  ///< none: drawn afresh
  std::string search;                 ///< "": kerf
  std::string out;                    ///< run folder; "": runs/<task>-<target>-<time>
  std::string resume;                 ///< a run that was interrupted or is to go on
  std::string replay;                 ///< a run whose decisions are taken again in a new one
  std::vector<std::string> from;      ///< kernel files that the search starts from
  std::string memory;                 ///< its file; "": the user's own; "off"
  std::string memory_rule;            ///< "": kerf, or that of the run
  std::string skills;                 ///< "": verified, or that of the run
  std::vector<std::string> set;
  MindOptions minds{};
  EmbeddingOptions embedding{};
  bool json = false;
  int jobs = 0;
  bool no_compare = false;  ///< a model's winner is not compared with PyTorch
};
Status optimize(const OptimizeOptions& options, const Environment& environment, Console& console);

struct CompareOptions {
  std::string task;                   ///< with `pytorch` a model file, or a run that was made from one
  std::string first, second;          ///< kernel files; with `pytorch` and a model file the first defines ModelNew
  bool pytorch = false;               ///< with PyTorch itself instead of a second kernel
  double seconds = 10;                ///< with `pytorch`: of timed rounds
  bool no_compile = false;            ///< with `pytorch`: without torch.compile
  std::string target, device, shape;  ///< "": as for eval
  std::vector<std::string> set;       ///< tunables of either kernel, and settings
  std::optional<std::uint64_t> seed;  ///< none: drawn afresh
  int jobs = 0;
  bool json = false;
};
Status compare(const CompareOptions& options, const Environment& environment, Console& console);
Status compare_pytorch(const CompareOptions& options, const Environment& environment, Console& console);

struct NewOptions {
  std::string name;  ///< of the task, or the file to write
};
Status new_task(const NewOptions& options, const Environment& environment, Console& console);

struct CheckOptions {
  std::vector<std::string> tasks;  ///< several: what each would be as a task, one line each
  std::string target;              ///< that PyTorch models are imported for; "": any
  bool print_task = false;         ///< only the text of the task file
  bool json = false;
  std::optional<std::uint64_t> seed;  ///< none: 1
};
Status check(const CheckOptions& options, const Environment& environment, Console& console);
Status check_many(const CheckOptions& options, const Environment& environment, Console& console);

struct TasksOptions {
  std::string folder;  ///< "": the samples, and tasks/ here when there is one
  std::string write;   ///< write the samples into this folder instead
};
Status tasks(const TasksOptions& options, const Environment& environment, Console& console);

struct SettingsOptions {
  bool json = false;
  bool markdown = false;  ///< as docs/settings.md
};
Status settings(const SettingsOptions& options, const Environment& environment, Console& console);

struct DoctorOptions {
  MindOptions minds{};  ///< models whose endpoints are tried
  bool json = false;
  bool calibrate = false;
};
Status doctor(const DoctorOptions& options, const Environment& environment, Console& console);

struct NaiveOptions {
  std::string task;
  std::string target;
  bool parallel = false;
};
Status naive(const NaiveOptions& options, const Environment& environment, Console& console);

struct SynthOptions {
  std::string task;
  std::string target;
  int start = 0;       ///< which of the starts is printed
  bool list = false;   ///< one line per start instead
  bool json = false;   ///< the starts with their groups as JSON instead
  int count = 0;       ///< how many starts --list and --json give; 0: all
  std::string assume;  ///< a JSON file that says what the device is like; "": the one here
};
Status synth(const SynthOptions& options, const Environment& environment, Console& console);

struct TuneCommand {
  std::string task, kernel;
  std::string target, device, shape;  ///< "": as for eval
  std::vector<std::string> set;       ///< settings only: the tunables are what is looked for
  int evaluations = 60;
  double seconds = 0;  ///< 0: no limit
  int rounds = 5;
  int all = 0;                        ///< passes over the whole space instead
  std::optional<std::uint64_t> seed;  ///< none: 1
  int jobs = 0;
  bool json = false;
  std::string out;  ///< where the kernel with the best values goes; "": nowhere
};
Status tune_kernel(const TuneCommand& options, const Environment& environment, Console& console);

/// The task of a task file, a sample ("sample:NAME") or a PyTorch model file (".py", imported for `target`; "": any),
/// with its target names held to the list of targets.
Result<Task> load_checked_task(const std::string& path, const Environment& environment, const std::string& target = "");
/// The same with its texts.
Result<TaskText> read_checked_task(const std::string& path, const Environment& environment,
                                   const std::string& target = "");

/// A seed that was not drawn before: 64 random bits.
std::uint64_t fresh_seed();

}  // namespace kerf::cli
