#include "judge/device_data.hpp"

#include "device/device_oracle.hpp"
#include "ir/analysis/cost.hpp"
#include "ir/analysis/error_bound.hpp"
#include "model/candidate.hpp"

namespace kerf {
namespace {

constexpr std::int64_t kHostElements = std::int64_t{1} << 19;  ///< of one tensor
constexpr double kHostFlops = 2e10;

/// Outputs y and y!bound under names that a launch line can carry.
const std::string kBoundSuffix = "__bound";

ir::Graph renamed(ir::Graph graph) {
  for (auto& output : graph.outputs)
    if (const auto at = output.name.find("!bound"); at != std::string::npos)
      output.name = output.name.substr(0, at) + kBoundSuffix;
  return graph;
}

/// The plan with the names that DeviceRecipe wants.
LaunchPlan restored(LaunchPlan plan, const Task& task) {
  for (Launch& launch : plan.launches)
    for (std::string& argument : launch.args)
      for (const auto& output : task.outputs)
        if (argument == output.name + kBoundSuffix) argument = output.name + "!bound";
  return plan;
}

}  // namespace

struct DeviceData::Impl {
  const Task& task;
  ShapeSet shape;
  DeviceOracle& oracle;
  DeviceRecipe recipe;  // all but the inputs
  bool nan_is_free = false;
};

DeviceData::DeviceData(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeviceData::~DeviceData() = default;

bool too_large_for_the_host(const Task& task, const ShapeSet& shape) {
  for (const auto* list : {&task.inputs, &task.outputs})
    for (const auto& tensor : *list)
      if (const auto count = element_count(tensor.shape).evaluate(shape.symbols); count && *count > kHostElements)
        return true;
  if (!task.graph) return false;
  const auto cost = ir::cost(*task.graph, shape.symbols);
  return cost && cost->fma_flops > kHostFlops;
}

Result<DeviceData::Compiled> DeviceData::compile(const Task& task, const oracle::Reference& reference,
                                                 const ShapeSet& shape, Target& target, BuildCache& builds) {
  if (!task.graph || target.device->facts().runs_on_host || !too_large_for_the_host(task, shape)) return Compiled{};
  std::vector<Bindings> shape_sets;
  for (const ShapeSet& set : task.shapes) shape_sets.push_back(set.symbols);
  KERF_TRY(ir::Graph bounded,
           ir::with_error_bounds(ir::simplify(*task.graph),
                                 oracle::error_model(task.precision, reference.errors_walk()), shape_sets));
  codegen::NaiveOptions options;
  options.compute = DType::f64;
  options.outputs_in_compute_type = true;
  options.kernel_prefix = "oracle";
  options.shape = &shape.symbols;
  KERF_TRY(const std::string source,
           codegen::generate_naive(ir::simplify(renamed(std::move(bounded))), target.language->dialect(), options));
  Compiled compiled;
  KERF_TRY(compiled.candidate, parse_candidate("oracle", source));
  KERF_TRY(compiled.outcome, builds.compile(*target.language, make_request(compiled.candidate, shape.symbols,
                                                                           target.device->facts().arch)));
  return compiled;
}

Result<std::unique_ptr<DeviceData>> DeviceData::open(const Task& task, const oracle::Reference& reference,
                                                     const ShapeSet& shape, Target& target, BuildCache& builds,
                                                     Bench& bench) {
  auto* const oracle = dynamic_cast<DeviceOracle*>(&bench);
  if (oracle == nullptr || !task.graph || !too_large_for_the_host(task, shape)) return std::unique_ptr<DeviceData>();
  KERF_TRY(Compiled compiled, compile(task, reference, shape, target, builds));
  if (const auto* failed = std::get_if<CompileFailed>(&compiled.outcome))
    return fail(Errc::tool_failed, "the generated oracle does not compile (a fault in Kerf):\n" + failed->log);
  auto impl = std::make_unique<Impl>(Impl{task, shape, *oracle, {}, oracle::nan_is_free(*task.graph)});
  impl->recipe.oracle = std::get<Artifact>(std::move(compiled.outcome));
  impl->recipe.plan = restored(compiled.candidate.plan, task);
  impl->recipe.constants = shape.symbols;
  return std::unique_ptr<DeviceData>(new DeviceData(std::move(impl)));
}

Result<oracle::DataSet> DeviceData::make(const oracle::DataDraw& wanted) {
  oracle::DataSet data;
  data.id = oracle::next_data_id();
  data.shape = impl_->shape.name;
  data.distribution = oracle::pattern_name(wanted.pattern);
  data.drawn = wanted;
  data.nan_is_free = impl_->nan_is_free;
  DeviceRecipe recipe = impl_->recipe;
  KERF_TRY(const auto draws, oracle::input_draws(impl_->task, impl_->shape, wanted));
  for (std::size_t i = 0; i < impl_->task.inputs.size(); ++i) {
    DeviceDraw draw;
    draw.input = draws[i];
    if (i < impl_->task.distributions.size()) draw.given = impl_->task.distributions[i];
    if (draw.given) {
      KERF_TRY(draw.given, on_shape(*draw.given, impl_->shape.symbols));
    }
    recipe.inputs.push_back(std::move(draw));
  }
  KERF_TRY_VOID(impl_->oracle.make_on_device(data, std::move(recipe)));
  return data;
}

}  // namespace kerf
