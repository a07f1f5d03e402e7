#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "base/text.hpp"
#include "propose/synth/synthesiser.hpp"

namespace kerf::cli {

Status synth(const SynthOptions& options, const Environment& environment, Console& console) {
  if (options.target.empty()) return fail(Errc::invalid_input, "give --target, one of: " + join(target_names(), ", "));
  KERF_TRY_VOID(check_target_name(options.target));
  KERF_TRY(const Task task, load_checked_task(options.task, environment));
  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, 1);
  // Which variants fit also depends on the device; without one they are written for all that the language offers.
  const auto target = make_target(options.target, context);
  const DeviceFacts facts = target ? target->device->facts() : DeviceFacts{};
  if (!target)
    console.err << paint("no device of target " + options.target + " here: written for one that lacks nothing\n",
                         Colour::dim, console.err_style);
  const codegen::DialectTraits& dialect = *find_target(options.target)->dialect;
  KERF_TRY(const auto synthesiser, synth::Synthesiser::create(task, options.target, dialect, facts));
  const auto starts = synthesiser->starts();
  if (options.list) {
    for (std::size_t s = 0; s < starts.size(); ++s)
      console.out << fmt::format("{:3}  {}\n", s, synthesiser->describe(starts[s]));
    return {};
  }
  if (options.start < 0 || static_cast<std::size_t>(options.start) >= starts.size())
    return fail(Errc::invalid_input,
                fmt::format("there are {} compositions, numbered from 0; see --list", starts.size()));
  KERF_TRY(const Candidate candidate, synthesiser->render(starts[static_cast<std::size_t>(options.start)]));
  console.out << candidate.source << std::flush;
  return {};
}

}  // namespace kerf::cli
