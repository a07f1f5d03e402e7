// `kerf compare --pytorch`.
#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "app/cli/pytorch_comparison.hpp"
#include "app/cli/run_commands.hpp"
#include "pytorch/import_model.hpp"
#include "store/find_run.hpp"
#include "target/target.hpp"

namespace kerf::cli {
namespace {

Status check_pytorch_options(const CompareOptions& options) {
  if (!options.second.empty())
    return fail(Errc::invalid_input, "--pytorch takes a run, or a model file and one file with ModelNew");
  if (pytorch::is_model_file(options.task) == options.first.empty())
    return fail(Errc::invalid_input, options.first.empty()
                                         ? "--pytorch model.py: give a file with ModelNew too, or a run instead"
                                         : "--pytorch RUN takes no second file: the run's best kernel is compared");
  if (!options.first.empty() && !pytorch::is_model_file(options.first))
    return fail(Errc::invalid_input,
                fmt::format("'{}' is not a Python file with ModelNew; make one with 'kerf export RUN --format "
                            "kernelbench --out new.py', or give the run instead: kerf compare --pytorch RUN",
                            options.first));
  if (options.first.empty() && !options.target.empty())
    return fail(Errc::invalid_input, "--target goes with two files; a run has its own");
  if (!options.shape.empty() || !options.set.empty() || !options.device.empty() || options.jobs != 0)
    return fail(Errc::invalid_input, "--shape, --set, --device and --jobs do not go with --pytorch");
  return {};
}

}  // namespace

Status compare_pytorch(const CompareOptions& options, const Environment& environment, Console& console) {
  KERF_TRY_VOID(check_pytorch_options(options));
  PyTorchOptions how;
  how.seconds = options.seconds;
  how.compile = !options.no_compile;
  if (options.seed) how.seed = *options.seed;
  const auto compared = [&]() -> Result<pytorch::Comparison> {
    if (!options.first.empty())
      return compare_files(options.task, options.first, options.target.empty() ? default_target() : options.target, how,
                           environment);
    KERF_TRY(const auto folder, find_run(options.task, kRunsFolder));
    return compare_run(folder, how, environment);
  };
  if (!options.json)
    console.err << note_line("eager PyTorch, torch.compile and the kernel in turn", console.err_style) << std::flush;
  KERF_TRY(const auto comparison, compared());
  if (options.json)
    console.out << to_json(comparison) << std::endl;
  else
    console.out << comparison_text(comparison, console.out_style) << std::flush;
  return {};
}

}  // namespace kerf::cli
