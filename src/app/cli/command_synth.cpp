#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/assumed_device.hpp"
#include "app/cli/commands.hpp"
#include "base/text.hpp"
#include "ir/analysis/cost.hpp"
#include "propose/synth/synthesiser.hpp"

namespace kerf::cli {
namespace {

using nlohmann::json;

/// The device to plan for: as described, else the one here, else one with every feature.
Result<AssumedDevice> device_for(const SynthOptions& options, const Environment& environment, Console& console) {
  if (!options.assume.empty()) return read_assumed_device(options.assume);
  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, 1);
  const auto target = make_target(options.target, context);
  if (target) return AssumedDevice{target->device->facts(), {}};
  console.err << paint("no device of target " + options.target + " here: composed for one with every feature\n",
                       Colour::dim, console.err_style);
  return AssumedDevice{};
}

json group_json(const synth::GroupFacts& facts) {
  return {{"family", facts.family},
          {"variant", facts.variant},
          {"unit", facts.unit},
          {"stored", facts.stored},
          {"operations", facts.operations},
          {"functions", facts.functions},
          {"launches", facts.launches},
          {"flops", facts.flops},
          {"bytes_read", facts.bytes_read},
          {"bytes_written", facts.bytes_written},
          {"moves", facts.moves},
          {"expected_us", facts.expected_us}};
}

/// What the heaviest shape must move and compute at least, and the plans for it.
Result<json> plans_json(const Task& task, const std::string& target, const synth::Synthesiser& synthesiser,
                        const std::vector<synth::Genome>& starts) {
  json all = {{"schema", 1}, {"task", task.name}, {"compositions", json::array()}};
  const ShapeSet* main = nullptr;
  const std::vector<ShapeSet> shapes = shapes_for(task, target);
  for (const ShapeSet& shape : shapes)
    if (main == nullptr || shape.weight > main->weight) main = &shape;
  if (main != nullptr && task.graph) {
    KERF_TRY(const ir::Cost cost, ir::cost(*task.graph, main->symbols));
    all["bytes_read"] = cost.bytes_read;
    all["bytes_written"] = cost.bytes_written;
    all["fma_flops"] = cost.fma_flops;
  }
  for (const synth::Genome& start : starts) {
    json one = {{"text", synthesiser.describe(start)}, {"rewrite", start.rewrite}, {"groups", json::array()}};
    for (const auto& facts : synthesiser.facts(start)) one["groups"].push_back(group_json(facts));
    all["compositions"].push_back(std::move(one));
  }
  return all;
}

}  // namespace

Status synth(const SynthOptions& given, const Environment& environment, Console& console) {
  SynthOptions options = given;
  if (options.target.empty() && !options.assume.empty())
    return fail(Errc::invalid_input,
                "--assume describes a device: give its --target, one of: " + join(target_names(), ", "));
  if (options.target.empty()) options.target = default_target();
  KERF_TRY_VOID(check_target_name(options.target));
  KERF_TRY(const Task task, load_checked_task(options.task, environment, options.target));
  // Which variants fit also depends on the device; without one they are written for all that the language offers.
  KERF_TRY(const AssumedDevice device, device_for(options, environment, console));
  const codegen::DialectTraits& dialect = *find_target(options.target)->dialect;
  KERF_TRY(const auto synthesiser,
           synth::Synthesiser::create(task, options.target, dialect, device.facts, device.rates));
  auto starts = synthesiser->starts();
  if (options.list || options.json) {
    if (options.count > 0 && starts.size() > static_cast<std::size_t>(options.count))
      starts.resize(static_cast<std::size_t>(options.count));
    if (options.json) {
      KERF_TRY(const json plans, plans_json(task, options.target, *synthesiser, starts));
      console.out << plans.dump(1) << "\n";
      return {};
    }
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
