#include "app/cli/commands.hpp"
#include "base/text.hpp"
#include "judge/shape_context.hpp"

namespace kerf::cli {

Status naive(const NaiveOptions& given, const Environment& environment, Console& console) {
  NaiveOptions options = given;
  if (options.target.empty()) options.target = default_target();
  KERF_TRY_VOID(check_target_name(options.target));
  KERF_TRY(const Task task, load_checked_task(options.task, environment));
  const TargetDescription& target = *find_target(options.target);
  KERF_TRY(const std::string source,
           options.parallel ? naive_parallel_source(task, target) : naive_source(task, target));
  if (source.empty() && options.parallel)
    return fail(Errc::invalid_input, task.graph ? "--parallel is for targets whose kernels start threads themselves; "
                                                  "the work items of " +
                                                      options.target + " run side by side as they are"
                                                : "--parallel is for references that are expressions");
  if (source.empty())
    return fail(Errc::invalid_input, "the reference of " + task.name +
                                         " is C++ code, so there is a naive kernel only for target " +
                                         cpp_reference_target());
  console.out << source << std::flush;
  return {};
}

}  // namespace kerf::cli
