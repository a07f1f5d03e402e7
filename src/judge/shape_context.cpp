#include "judge/shape_context.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <thread>

#include <fmt/format.h>

#include "base/memory.hpp"
#include "base/rng.hpp"
#include "measure/timing.hpp"
#include "verify/cpp_reference.hpp"
#include "verify/memory.hpp"

namespace kerf {
namespace {

using oracle::Family;

/// A baseline may take this long per call; it is ours or the user's, not a candidate.
constexpr std::chrono::milliseconds kBaselineLimit{120000};

/// What large shapes are checked with: the families that expose size-dependent faults; the others are the small shape's
/// job.
bool suits_large_shapes(Family family) {
  return family == Family::normal || family == Family::spikes || family == Family::specials;
}

codegen::OperandRounding rounding_of(Precision precision) {
  switch (precision) {
    case Precision::tf32: return codegen::OperandRounding::tf32;
    case Precision::f16: return codegen::OperandRounding::f16;
    case Precision::bf16: return codegen::OperandRounding::bf16;
    default: return codegen::OperandRounding::none;
  }
}

Result<std::string> plain_source(const Task& task, const std::string& target, const codegen::DialectTraits& dialect,
                                 codegen::OperandRounding rounding, bool parallel = false) {
  codegen::NaiveOptions options;
  options.compute = task.precision == Precision::f64 ? DType::f64 : DType::f32;
  options.operand_rounding = rounding;
  options.parallel = parallel;
  options.target = target;
  return codegen::generate_naive(ir::simplify(*task.graph), dialect, options);
}

Result<std::string> plain_source(const Task& task, const Target& target, codegen::OperandRounding rounding,
                                 bool parallel = false) {
  return plain_source(task, target.name, target.language->dialect(), rounding, parallel);
}

Result<std::string> naive_source(const Task& task, const std::string& target, const codegen::DialectTraits& dialect) {
  if (task.graph) return plain_source(task, target, dialect, codegen::OperandRounding::none);
  if (dialect.accepts_cpp_references)
    return cpp_reference_candidate(task, task.precision == Precision::f64 ? "double" : "float", target);
  return std::string{};
}

/// Small shapes are batched, and every call of a batch needs data of its own.
int timed_sets(const ShapeContext::Inputs& inputs) {
  double elements = 0;
  for (const auto* list : {&inputs.task.inputs, &inputs.task.outputs})
    for (const auto& tensor : *list)
      if (const auto count = element_count(tensor.shape).evaluate(inputs.shape.symbols))
        elements += static_cast<double>(*count);
  if (elements < 1 << 18) return std::max(inputs.timed_data_sets, 12);
  if (elements > 1 << 26) return inputs.timed_data_sets;  // each takes room on the device, or time to make it again
  return std::max(inputs.timed_data_sets, elements < 1 << 21 ? 6 : 4);
}

/// The data sets of a large shape may be made on the device; whether this one can is known only when it is open, so
/// they are counted here where the host would have to make them.
MemoryNeed need_of(const ShapeContext::Inputs& inputs, int slots) {
  const bool elsewhere = !inputs.target.device->facts().runs_on_host && inputs.task.graph &&
                         too_large_for_the_host(inputs.task, inputs.shape);
  const int sets = elsewhere ? 0 : (inputs.shape.weight > 0 ? timed_sets(inputs) : 1);
  return memory_need(inputs.task, inputs.shape, slots, sets);
}

MemoryThere memory_of(const ShapeContext::Inputs& inputs) {
  const DeviceFacts& facts = inputs.target.device->facts();
  return {inputs.host_bytes > 0 ? inputs.host_bytes : available_memory_bytes(), facts.memory_bytes, facts.runs_on_host};
}

Result<RunOutcome> run_once(Bench& bench, KernelHandle handle, int slot) {
  const std::array<int, 1> slots{slot};
  return bench.run(handle, slots, kBaselineLimit);
}

double time_of(const Timing& timing) { return timing.device_us > 0 ? timing.device_us : timing.host_us; }

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

Result<std::unique_ptr<ShapeContext>> ShapeContext::prepare(const Inputs& inputs, const Families* families,
                                                            Families& found) {
  auto context = std::unique_ptr<ShapeContext>(new ShapeContext(inputs.shape));
  try {
    KERF_TRY_VOID(context->prepare_parts(inputs, families, found));
  } catch (const std::bad_alloc&) {  // of intermediate values, which the estimate does not count
    const int slots = context->slots_;
    return tl::unexpected<Error>(out_of_memory(inputs.shape, need_of(inputs, slots), memory_of(inputs)));
  }
  return context;
}

template <class Work>
auto ShapeContext::part(const Inputs& inputs, const char* name, const Work& work) {
  const Nanoseconds start = inputs.clock != nullptr ? inputs.clock->now() : Nanoseconds{};
  auto done = work();
  if (inputs.clock == nullptr) return done;
  const double ms = static_cast<double>((inputs.clock->now() - start).count()) / 1e6;
  const std::string text = fmt::format("{}: {}", shape_.name, name);
  for (TierTime& cost : costs_)
    if (cost.tier == text) {
      cost.ms += ms;
      return done;
    }
  costs_.push_back({text, ms});
  return done;
}

void ShapeContext::compile_ahead(const Inputs& inputs) {
  ShapeContext unused(inputs.shape);
  std::thread oracle([&inputs] {
    (void)DeviceData::compile(inputs.task, inputs.shape, inputs.target, inputs.builds);  // prepare() reports errors
  });
  (void)unused.add_baselines(inputs);
  oracle.join();
}

Status ShapeContext::prepare_parts(const Inputs& inputs, const Families* families, Families& found) {
  KERF_TRY_VOID(part(inputs, "buffers", [&] { return open_bench(inputs); }));
  KERF_TRY_VOID(part(inputs, "compiling baselines", [&] { return add_baselines(inputs); }));
  return make_data(inputs, families, found);
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
  slots_ = slots_for(bytes, inputs.target.device->facts());
  layout.slots = slots_;
  needs_flush_ = bytes < 3 * inputs.target.device->facts().cache_bytes || inputs.target.device->facts().runs_on_host;
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
  KERF_TRY(const std::string naive, naive_source(inputs.task, inputs.target));
  if (!naive.empty()) {
    KERF_TRY(auto plain, build_plain(inputs, "naive", naive));
    baselines_.push_back(std::move(plain));
  }
  // One core of many is a weak opponent; elsewhere the naive kernel's work items run side by side as they are.
  const DeviceFacts& facts = inputs.target.device->facts();
  if (inputs.task.graph && facts.runs_on_host && facts.compute_units > 1 &&
      inputs.target.language->dialect().host_entry) {
    KERF_TRY(const std::string source, plain_source(inputs.task, inputs.target, codegen::OperandRounding::none, true));
    KERF_TRY(auto plain, build_plain(inputs, "naive-parallel", source));
    baselines_.push_back(std::move(plain));
  }
  const auto rounding = rounding_of(inputs.task.precision);
  if (inputs.task.graph && rounding != codegen::OperandRounding::none) {
    KERF_TRY(const std::string source, plain_source(inputs.task, inputs.target, rounding));
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
  if (accuracy_) all.push_back(accuracy_.get());
  for (LoadedBaseline* baseline : all)
    if (!baseline->handle) KERF_TRY_VOID(load(*baseline));
  if (accuracy_) all.pop_back();
  return all;
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

Result<HonestAccuracy> ShapeContext::honest_accuracy(LoadedBaseline& plain, const oracle::DataSet& data, bool& right) {
  KERF_TRY_VOID(bench_->stage(0, data, Poison::a));
  KERF_TRY(const RunOutcome outcome, run_once(*bench_, *plain.handle, 0));
  if (const auto* fault = std::get_if<Fault>(&outcome))
    return fail(Errc::tool_failed, "the naive kernel failed on shape '" + shape_.name + "': " + fault->message);
  plain.estimate_us = time_of(std::get<Timing>(outcome));
  KERF_TRY(const SlotReport report, bench_->check(0, data));
  right = !judge_slot(report, data, {}, outputs_).has_value();
  HonestAccuracy honest;
  for (const auto& stats : report.outputs) honest.push_back(rms(stats));
  return honest;
}

Status ShapeContext::make_data(const Inputs& inputs, const Families* families, Families& found) {
  KERF_TRY(const auto loaded, part(inputs, "loading baselines", [&] { return baselines(); }));
  LoadedBaseline* plain =
      accuracy_ ? accuracy_.get() : (loaded.empty() || loaded[0]->name != "naive" ? nullptr : loaded[0]);
  const Rng rng = Rng(inputs.seed).fork(shape_.name);
  KERF_TRY(device_data_, part(inputs, "compiling the oracle", [&] {
             return DeviceData::open(inputs.task, shape_, inputs.target, inputs.builds, *bench_);
           }));

  const auto add = [&](Family family, const std::string& label, bool ask_plain) -> Result<bool> {
    auto checked = std::make_unique<CheckedData>();
    const std::uint64_t seed = rng.fork(label).bits();
    KERF_TRY(checked->data, part(inputs, "data and oracle", [&] {
               return device_data_ ? device_data_->make(family, seed)
                                   : oracle::make_data(inputs.task, inputs.reference, inputs.shape, family, seed);
             }));
    bool right = true;
    if (plain != nullptr && ask_plain) {
      KERF_TRY(checked->honest,
               part(inputs, "plain kernel", [&] { return honest_accuracy(*plain, checked->data, right); }));
    } else if (family == Family::normal && !data_.empty()) {
      checked->honest = data_.front()->honest;  // same distribution, other seed
    }
    if (right) data_.push_back(std::move(checked));
    return right;
  };

  KERF_TRY(const bool ordinary, add(Family::normal, "normal 0", true));
  if (!ordinary)
    return fail(
        Errc::invalid_input,
        fmt::format(
            "the reference cannot be computed at precision {} on shape '{}': even the naive kernel misses its error "
            "bound on ordinary inputs. Give the inputs a [distributions] entry or choose another precision.",
            precision_name(inputs.task.precision), shape_.name));
  if (shape_.weight > 0)
    for (int i = 1; i < timed_sets(inputs); ++i)
      KERF_TRY_VOID(add(Family::normal, "normal " + std::to_string(i), false));
  timed_count_ = data_.size();

  const bool discover = families == nullptr;
  for (const Family family : oracle::kAllFamilies) {
    if (family == Family::normal || (family == Family::specials && !inputs.task.special_values)) continue;
    if (!discover && (!suits_large_shapes(family) ||
                      std::find(families->usable.begin(), families->usable.end(), family) == families->usable.end()))
      continue;
    KERF_TRY(const bool right, add(family, std::string(oracle::family_name(family)), discover));
    if (right)
      found.usable.push_back(family);
    else
      found.notes.push_back(fmt::format("{} inputs are left out: a plain implementation overflows or cancels on them",
                                        oracle::family_name(family)));
  }
  // Only ordinary data says what accuracy is honest; elsewhere the element bounds alone decide.
  for (auto& checked : data_)
    if (checked->data.distribution != oracle::family_name(Family::normal)) checked->honest.clear();
  return {};
}

std::vector<const CheckedData*> ShapeContext::checked() const {
  std::vector<const CheckedData*> all;
  for (std::size_t i = 0; i < data_.size(); ++i)
    if (i == 0 || i >= timed_count_) all.push_back(data_[i].get());
  return all;
}

std::vector<const CheckedData*> ShapeContext::timed() const {
  std::vector<const CheckedData*> all;
  for (std::size_t i = 0; i < timed_count_; ++i) all.push_back(data_[i].get());
  return all;
}

void ShapeContext::forget_handles() {
  for (auto& baseline : baselines_) baseline->handle.reset();
  if (accuracy_) accuracy_->handle.reset();
}

double ShapeContext::naive_us() const {
  const double accuracy = accuracy_ ? accuracy_->estimate_us : 0;
  return baselines_.empty() ? accuracy : std::max(accuracy, baselines_.front()->estimate_us);
}

}  // namespace kerf
