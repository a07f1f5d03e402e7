#pragma once
// The commands behind the command line. Each takes its options as a value; an Error becomes the exit code in cli.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/environment.hpp"
#include "base/result.hpp"
#include "model/task.hpp"

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
  std::optional<std::uint64_t> seed;  ///< none: drawn afresh
  int jobs = 0;                       ///< compilers side by side; 0: one per core
};
Status eval(const EvalOptions& options, const Environment& environment, Console& console);

struct CheckOptions {
  std::string task;
  bool json = false;
  std::uint64_t seed = 1;
};
Status check(const CheckOptions& options, const Environment& environment, Console& console);

struct TasksOptions {
  std::string folder;  ///< "": tasks/ here, or beside the build that this program is from
};
Status tasks(const TasksOptions& options, const Environment& environment, Console& console);

struct DoctorOptions {
  bool json = false;
  bool calibrate = false;
};
Status doctor(const DoctorOptions& options, const Environment& environment, Console& console);

struct NaiveOptions {
  std::string task;
  std::string target;
};
Status naive(const NaiveOptions& options, const Environment& environment, Console& console);

struct SynthOptions {
  std::string task;
  std::string target;
  int start = 0;        ///< which of the starts is printed
  bool list = false;    ///< one line per start instead
};
Status synth(const SynthOptions& options, const Environment& environment, Console& console);

/// The task, with its target names held to the list of targets.
Result<Task> load_checked_task(const std::string& path);

/// Ok when `name` is a target; the error gives the nearest one.
Status check_target_name(const std::string& name);

/// The target whose language C++ references are written in.
inline constexpr const char* kCppReferenceTarget = "cpu";

/// Values given with --set, split into tunables and settings.
struct Settings {
  Bindings tunables;
  std::vector<std::pair<std::string, std::string>> options;  ///< keys with a dot
};
Result<Settings> parse_settings(const std::vector<std::string>& texts);

}  // namespace kerf::cli
