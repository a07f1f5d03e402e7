#include "judge/shape_context.hpp"

#include <algorithm>
#include <new>
#include <thread>

#include <fmt/format.h>

#include "base/memory.hpp"
#include "measure/timing.hpp"
#include "verify/cpp_reference.hpp"
#include "verify/memory.hpp"

namespace kerf {
namespace {

/// How many times as fast products are in tiles, roughly (H200, 4096^3: 16).
constexpr double kGainOfTiles = 16;

codegen::OperandRounding rounding_of(Precision precision) {
  switch (precision) {
    case Precision::tf32: return codegen::OperandRounding::tf32;
    case Precision::f16: return codegen::OperandRounding::f16;
    case Precision::bf16: return codegen::OperandRounding::bf16;
    default: return codegen::OperandRounding::none;
  }
}

Result<std::string> plain_source(const Task& task, const std::string& target, const codegen::DialectTraits& dialect,
                                 bool parallel) {
  codegen::NaiveOptions options;
  options.compute = task.precision == Precision::f64 ? DType::f64 : DType::f32;
  options.parallel = parallel;
  options.target = target;
  return codegen::generate_naive(ir::simplify(*task.graph), dialect, options);
}

Result<std::string> naive_source(const Task& task, const std::string& target, const codegen::DialectTraits& dialect) {
  if (task.graph) return plain_source(task, target, dialect, false);
  if (dialect.accepts_cpp_references)
    return cpp_reference_candidate(task, task.precision == Precision::f64 ? "double" : "float", target);
  return std::string{};
}

/// What a plain implementation of the accuracy class computes: one running sum, operands of products as exact as the
/// class has them. `shape`: for these extents only, with products in tiles, which have the same sums; or null.
Result<std::string> class_source(const Task& task, const Target& target, bool parallel, const Bindings* shape) {
  codegen::NaiveOptions options;
  options.compute = task.precision == Precision::f64 ? DType::f64 : DType::f32;
  options.operand_rounding = rounding_of(task.precision);
  options.running_sums = true;
  options.shape = shape;
  options.parallel = parallel;
  options.target = target.name;
  return codegen::generate_naive(ir::simplify(*task.graph), target.language->dialect(), options);
}

/// The data sets of a large shape may be made on the device; whether this one can is known only when it is open, so
/// they are counted here where the host would have to make them.
MemoryNeed need_of(const ShapeContext::Inputs& inputs, int slots) {
  const bool elsewhere = !inputs.target.device->facts().runs_on_host && inputs.task.graph &&
                         too_large_for_the_host(inputs.task, inputs.shape);
  const int sets =
      elsewhere ? 0 : (inputs.shape.weight > 0 ? timed_sets(inputs.task, inputs.shape, inputs.timed_data_sets) : 1);
  return memory_need(inputs.task, inputs.shape, slots, sets);
}

MemoryThere memory_of(const ShapeContext::Inputs& inputs) {
  const DeviceFacts& facts = inputs.target.device->facts();
  return {inputs.host_bytes > 0 ? inputs.host_bytes : available_memory_bytes(), facts.memory_bytes, facts.runs_on_host};
}

}  // namespace

Bindings with_tunables(const Bindings& symbols, const Bindings& tunables) {
  Bindings all = symbols;
  all.insert(tunables.begin(), tunables.end());
  return all;
}

Result<std::string> naive_source(const Task& task, const Target& target) {
  return naive_source(task, target.name, target.language->dialect());
}

Result<std::string> naive_source(const Task& task, const TargetDescription& target) {
  return naive_source(task, target.name, *target.dialect);
}

Result<std::string> naive_parallel_source(const Task& task, const Target& target) {
  const DeviceFacts& facts = target.device->facts();
  if (!task.graph || !facts.runs_on_host || facts.compute_units < 2 || !target.language->dialect().host_entry)
    return std::string{};
  return plain_source(task, target.name, target.language->dialect(), true);
}

Result<std::string> naive_parallel_source(const Task& task, const TargetDescription& target) {
  if (!task.graph || !target.dialect->host_entry) return std::string{};
  return plain_source(task, target.name, *target.dialect, true);
}

Result<std::unique_ptr<ShapeContext>> ShapeContext::prepare(const Inputs& inputs, const UsablePatterns* patterns,
                                                            UsablePatterns& found) {
  auto context = std::unique_ptr<ShapeContext>(new ShapeContext(inputs.shape));
  try {
    KERF_TRY_VOID(context->prepare_parts(inputs, patterns, found));
  } catch (const std::bad_alloc&) {  // of intermediate values, which the estimate does not count
    const int slots = context->slots_;
    return tl::unexpected<Error>(out_of_memory(inputs.shape, need_of(inputs, slots), memory_of(inputs)));
  }
  return context;
}

void ShapeContext::add_cost(const Inputs& inputs, const char* name, Nanoseconds start) {
  if (inputs.clock == nullptr) return;
  const double ms = static_cast<double>((inputs.clock->now() - start).count()) / 1e6;
  const std::string text = fmt::format("{}: {}", shape_.name, name);
  for (TierTime& cost : costs_)
    if (cost.tier == text) {
      cost.ms += ms;
      return;
    }
  costs_.push_back({text, ms});
}

void ShapeContext::compile_ahead(const Inputs& inputs) {
  ShapeContext unused(inputs.shape);
  std::thread oracle([&inputs] {
    (void)DeviceData::compile(inputs.task, inputs.reference, inputs.shape, inputs.target,
                              inputs.builds);  // prepare() reports errors
  });
  (void)unused.add_baselines(inputs);
  oracle.join();
}

Status ShapeContext::prepare_parts(const Inputs& inputs, const UsablePatterns* patterns, UsablePatterns& found) {
  KERF_TRY_VOID(part(inputs, "buffers", [&] { return open_bench(inputs); }));
  KERF_TRY_VOID(part(inputs, "compiling baselines", [&] { return add_baselines(inputs); }));
  return make_data(inputs, patterns, found);
}

Status ShapeContext::open_bench(const Inputs& inputs) {
  ProblemLayout layout;
  std::int64_t bytes = 0;
  const auto add = [&](const ir::TensorType& type, BufferRole role) -> Status {
    KERF_TRY(auto extents, evaluate(type.shape, shape_.symbols));
    std::int64_t size = static_cast<std::int64_t>(dtype_size(type.dtype));
    for (const auto extent : extents) size *= extent;
    bytes += size;
    layout.buffers.push_back({type.name, type.dtype, std::move(extents), role});
    return {};
  };
  for (const auto& input : inputs.task.inputs) KERF_TRY_VOID(add(input, BufferRole::input));
  for (const auto& output : inputs.task.outputs) KERF_TRY_VOID(add(output, BufferRole::output));
  for (const auto& buffer : layout.buffers)
    if (buffer.role == BufferRole::output) outputs_.push_back(buffer);
  slot_bytes_ = bytes;
  slots_ = slots_for(bytes, inputs.target.device->facts());
  layout.slots = slots_;
  const DeviceFacts& facts = inputs.target.device->facts();
  needs_flush_ = !facts.settles_cache && (bytes < 3 * facts.cache_bytes || facts.runs_on_host);
  KERF_TRY_VOID(check_memory(inputs.shape, need_of(inputs, slots_), memory_of(inputs)));
  KERF_TRY(bench_, inputs.target.device->open(layout));
  return {};
}

Result<std::unique_ptr<LoadedBaseline>> ShapeContext::build_plain(const Inputs& inputs, const std::string& name,
                                                                  const std::string& source) {
  auto plain = std::make_unique<LoadedBaseline>();
  plain->name = name;
  KERF_TRY(plain->candidate, parse_candidate(name, source));
  const CompileRequest request = make_request(plain->candidate, shape_.symbols, inputs.target.device->facts().arch);
  KERF_TRY(CompileOutcome outcome, inputs.builds.compile(*inputs.target.language, request));
  if (const auto* failed = std::get_if<CompileFailed>(&outcome))
    return fail(Errc::tool_failed, "the generated naive kernel does not compile (a fault in Kerf):\n" + failed->log);
  plain->artifact = std::get<Artifact>(std::move(outcome));
  return plain;
}

Status ShapeContext::add_baselines(const Inputs& inputs) {
  // Where nothing is timed nobody is an opponent, and the kernel of the accuracy class can be the canary.
  const bool opponents = inputs.is_timed && shape_.weight > 0;
  KERF_TRY(const std::string naive, naive_source(inputs.task, inputs.target));
  if (!naive.empty() && (opponents || !inputs.task.graph)) {
    KERF_TRY(auto plain, build_plain(inputs, kNaiveBaseline, naive));
    baselines_.push_back(std::move(plain));
  }
  // One core of many is a weak opponent; elsewhere the naive kernel's work items run side by side as they are.
  const DeviceFacts& facts = inputs.target.device->facts();
  KERF_TRY(const std::string side_by_side, naive_parallel_source(inputs.task, inputs.target));
  const bool parallel = !side_by_side.empty();
  if (parallel && opponents) {
    KERF_TRY(auto plain, build_plain(inputs, kParallelBaseline, side_by_side));
    baselines_.push_back(std::move(plain));
  }
  if (inputs.task.graph) {
    plain_in_tiles_ = !facts.runs_on_host && too_large_for_the_host(inputs.task, inputs.shape);
    KERF_TRY(const std::string source,
             class_source(inputs.task, inputs.target, parallel, plain_in_tiles_ ? &inputs.shape.symbols : nullptr));
    KERF_TRY(accuracy_, build_plain(inputs, "naive", source));
  }
  for (const BaselineSpec& spec : inputs.task.baselines) {
    if (spec.target != inputs.target.name) continue;
    auto baseline = std::make_unique<LoadedBaseline>();
    baseline->name = spec.name;
    KERF_TRY(baseline->candidate, parse_candidate(spec.path, spec.source));
    Bindings constants = shape_.symbols;
    for (const Tunable& tunable : baseline->candidate.tunables) constants[tunable.name] = tunable.values.front();
    const CompileRequest request = make_request(baseline->candidate, constants, inputs.target.device->facts().arch);
    KERF_TRY(CompileOutcome outcome, inputs.builds.compile(*inputs.target.language, request));
    if (const auto* failed = std::get_if<CompileFailed>(&outcome))
      return fail(Errc::invalid_input, "baseline " + spec.path + " does not compile:\n" + failed->log);
    baseline->artifact = std::get<Artifact>(std::move(outcome));
    baselines_.push_back(std::move(baseline));
  }
  return {};
}

Result<std::vector<LoadedBaseline*>> ShapeContext::baselines() {
  std::vector<LoadedBaseline*> all;
  for (auto& baseline : baselines_) all.push_back(baseline.get());
  for (LoadedBaseline* baseline : all)
    if (!baseline->handle) KERF_TRY_VOID(load(*baseline));
  return all;
}

Result<LoadedBaseline*> ShapeContext::canary() {
  LoadedBaseline* const first = baselines_.empty() ? nullptr : baselines_.front().get();
  LoadedBaseline* const kernel = accuracy_ && (first == nullptr || first->name != "naive") ? accuracy_.get() : first;
  if (kernel != nullptr && !kernel->handle) KERF_TRY_VOID(load(*kernel));
  return kernel;
}

Status ShapeContext::load(LoadedBaseline& baseline) {
  Bindings constants = shape_.symbols;
  for (const Tunable& tunable : baseline.candidate.tunables) constants[tunable.name] = tunable.values.front();
  KERF_TRY(const auto loaded, bench_->load(baseline.artifact, baseline.candidate.plan, constants));
  if (const auto* fault = std::get_if<Fault>(&loaded))
    return fail(Errc::tool_failed, "baseline " + baseline.name + " cannot be loaded: " + fault->message);
  baseline.handle = std::get<KernelHandle>(loaded);
  return {};
}

Result<KernelHandle> ShapeContext::reload(LoadedBaseline& baseline) {
  if (baseline.handle) bench_->unload(*baseline.handle);
  baseline.handle.reset();
  KERF_TRY_VOID(load(baseline));
  return *baseline.handle;
}

void ShapeContext::forget_handles() {
  for (auto& baseline : baselines_) baseline->handle.reset();
  if (accuracy_) accuracy_->handle.reset();
}

double ShapeContext::plain_us() const {
  return (accuracy_ ? accuracy_->estimate_us : 0) * (plain_in_tiles_ ? kGainOfTiles : 1);
}

double ShapeContext::naive_us() const {
  const double accuracy = plain_us();
  return baselines_.empty() ? accuracy : std::max(accuracy, baselines_.front()->estimate_us);
}

}  // namespace kerf
