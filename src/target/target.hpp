#pragma once
// A target is a language on a device. This is the one list of what exists; nothing else names a language or a device
// kind.

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "device/device.hpp"
#include "language/language.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf {
namespace exporting {
class Exporter;  // export/export.hpp
}

/// Everything targets need from the outside, gathered once in app/.
struct TargetResources {
  std::filesystem::path self;   ///< the kerf binary, started again for workers
  std::filesystem::path cache;  ///< folder for compiled code and calibrations
  Sandbox* sandbox = nullptr;
  int compile_jobs = 0;                            ///< compiler processes kept alive; 0: one per core
  std::map<std::string, std::string> environment;  ///< what the user's environment says (PATH, CUDA_HOME, ...)
  std::uint64_t secret = 0;  ///< random per process: keys that candidates must not guess derive from it
};

/// What is known of a target without starting it.
struct TargetDescription {
  std::string name;                                 ///< of `--target` and `target:`; stored, so never renamed
  std::string help;                                 ///< one line for people: "C++ on this machine's processor"
  const codegen::DialectTraits* dialect = nullptr;  ///< Language::dialect(), known without its compiler
  std::string file_extension;                       ///< of its kernels: ".cpp"; targets may share one
  std::string device_kind;                          ///< "opencl" in `--device opencl:1`
  bool runs_cpp_references = false;                 ///< compiles and runs task references that are given as C++
  std::vector<std::string> environment{};           ///< variables that it reads: "OPENCL_VENDOR_PATH", "POCL_*"
  const exporting::Exporter* exporter = nullptr;    ///< null: kernels cannot be exported
  std::string torch_device{};                       ///< what PyTorch calls such a device; "": it has none
};

struct Target {
  std::string name;              ///< TargetDescription::name
  std::unique_ptr<Clock> clock;  ///< the judge's clock, used by the device for its batches
  std::unique_ptr<Language> language;
  std::unique_ptr<Device> device;
};

/// One line of `kerf doctor`.
struct Finding {
  std::string target;
  std::string what;    ///< "compiler", "device", "runtime"
  std::string found;   ///< version and place, or "" when missing
  std::string remedy;  ///< how to get it; "" when nothing is missing
};

const std::vector<TargetDescription>& target_descriptions();  ///< in the order of the list; the first is the default
const TargetDescription* find_target(std::string_view name);  ///< null when there is no such target
std::vector<std::string> target_names();
std::string default_target();
/// Of the target's kernels; ".txt" for a name that is no target's, as in runs of other versions.
std::string target_extension(std::string_view name);
/// The first target whose kernels have this extension, when neither header nor option names another; "" when unknown.
std::string target_for_extension(std::string_view extension);
std::string cpp_reference_target();  ///< the first that runs references given as C++
/// Ok when `name` is a target; the error gives the nearest one.
Status check_target_name(const std::string& name);
/// Whether some target reads this environment variable.
bool is_target_variable(std::string_view name);

/// Starts what the target needs; unavailable with what is missing and how to get it otherwise. `device` selects among
/// several ("opencl:1"); "" takes the first. With `compile_only` the device may be absent (device is null then).
Result<Target> make_target(const std::string& name, const TargetResources& context, const std::string& device = "",
                           bool compile_only = false);

std::vector<Finding> diagnose(const TargetResources& context);

/// Entry of `kerf worker KIND ...`: what the binary becomes when it is started as a worker. Exit code of the process.
int worker_main(const std::string& kind, std::span<const std::string> args);

}  // namespace kerf
