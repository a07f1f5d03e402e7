#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "propose/synth/synthesiser.hpp"

namespace kerf::cli {

Status synth(const SynthOptions& options, const Environment& environment, Console& console) {
  KERF_TRY_VOID(check_target_name(options.target));
  KERF_TRY(const Task task, load_checked_task(options.task));
  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, 1);
  auto made = make_target(options.target, context);
  if (!made) made = make_target(options.target, context, "", true);  // which variants fit also depends on the device
  KERF_TRY(const Target target, std::move(made));
  const DeviceFacts facts = target.device ? target.device->facts() : DeviceFacts{};
  KERF_TRY(const auto synthesiser, synth::Synthesiser::create(task, target.name, target.language->dialect(), facts));
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
