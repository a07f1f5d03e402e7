#include "device/arena/arena_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "device/arena/concrete_plan.hpp"
#include "device/arena/kernel_process.hpp"

namespace kerf {
namespace {

using namespace arena;
using namespace std::chrono_literals;

constexpr auto kTransferLimit = 60s;

/// Slots together up to this size stay allocated in every kernel that ran on them; larger ones exist once, where they
/// were used last.
constexpr std::int64_t kKeepBytes = 256 << 20;

constexpr std::int64_t kMostBytes = 1LL << 46;  // of one slot

/// Who has a slot's data: a kernel's handle, or one of these.
constexpr KernelHandle kHome = -1;  // the judge
constexpr KernelHandle kLost = -2;  // a process that is gone

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return b.empty() || std::memcmp(a.data(), b.data(), b.size()) == 0;
}

class ArenaBench final : public Bench {
 public:
  ArenaBench(ArenaPool::Impl& pool, ProblemLayout layout, SlotShape shape, SlotMemory home)
      : pool_(pool),
        layout_(std::move(layout)),
        shape_(std::move(shape)),
        inputs_(shape_.inputs),
        home_(std::move(home)),
        slots_(static_cast<std::size_t>(layout_.slots)) {
    std::int64_t bytes = 0;
    for (const std::int64_t one : shape_.bytes) bytes += one;
    keep_ = bytes * layout_.slots <= kKeepBytes;
  }

  Result<std::variant<KernelHandle, Fault>> load(const Artifact& artifact, const LaunchPlan& plan,
                                                 const Bindings& constants) override {
    KERF_TRY(auto evaluated, evaluate_plan(plan, layout_.buffers, constants));
    if (auto* fault = std::get_if<Fault>(&evaluated)) return std::move(*fault);
    auto& numbers = std::get<ConcretePlan>(evaluated);
    LoadMessage message;
    message.inputs = inputs_;
    message.launches = std::move(numbers.launches);
    KERF_TRY(auto loaded, KernelProcess::load(pool_, shape_, layout_.slots, std::move(message),
                                              std::move(numbers.scratch), artifact));
    if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
    Loaded kernel;
    kernel.process = std::move(std::get<std::unique_ptr<KernelProcess>>(loaded));
    kernel.uploaded.assign(slots_.size(), 0);
    kernel.scratch_poison = last_poison_;
    kernels_.emplace(++last_handle_, std::move(kernel));
    return last_handle_;
  }

  void unload(KernelHandle kernel) override {
    kernels_.erase(kernel);
    for (auto& slot : slots_) slot.forget(kernel);
  }

  void expect(KernelHandle kernel, std::span<const int> slots) override {
    for (const int slot : slots)
      if (check_slot(slot) && kernels_.count(kernel) != 0) slots_[static_cast<std::size_t>(slot)].expected = kernel;
  }

  Status stage(int slot, const oracle::DataSet& data, Poison poison) override {
    KERF_TRY_VOID(check_slot(slot));
    KERF_TRY_VOID(check_inputs(data));
    Slot& state = slots_[static_cast<std::size_t>(slot)];
    const KernelHandle to = kernels_.count(state.expected) != 0 ? state.expected : kHome;
    take_away(slot, to);
    memory_of(to).fill(slot, data, poison);
    state = {.version = ++last_version_, .poison = poison, .holder = to};
    last_poison_ = poison;
    for (auto& [handle, kernel] : kernels_) kernel.scratch_poison = poison;
    return {};
  }

  Result<RunOutcome> run(KernelHandle handle, std::span<const int> slots, std::chrono::milliseconds limit) override {
    return run_batch(handle, slots, {}, limit);
  }

  Result<RunOutcome> run_as(KernelHandle handle, int slot, const CallManner& manner,
                            std::chrono::milliseconds limit) override {
    return run_batch(handle, std::span(&slot, 1), manner, limit);
  }

  Result<std::variant<Counted, Fault>> count(KernelHandle handle, std::span<const int> slots,
                                             std::chrono::milliseconds limit) override {
    using Outcome = std::variant<Counted, Fault>;
    KERF_TRY(auto prepared, prepare_batch(handle, slots));
    if (prepared) return Outcome(std::get<Fault>(void_handles(std::move(*prepared))));
    KERF_TRY(Outcome outcome, kernels_.at(handle).process->count(slots, limit));
    if (auto* fault = std::get_if<Fault>(&outcome)) return Outcome(std::get<Fault>(void_handles(std::move(*fault))));
    ran_on(slots);
    return outcome;
  }

  Result<RunOutcome> run_batch(KernelHandle handle, std::span<const int> slots, const CallManner& manner,
                               std::chrono::milliseconds limit) {
    KERF_TRY(auto prepared, prepare_batch(handle, slots));
    if (prepared) return void_handles(std::move(*prepared));
    KERF_TRY(RunOutcome outcome, kernels_.at(handle).process->execute(Action::run, slots, limit, manner));
    if (std::holds_alternative<Fault>(outcome)) return void_handles(std::get<Fault>(std::move(outcome)));
    ran_on(slots);
    return outcome;
  }

  Result<SlotReport> check(int slot, const oracle::DataSet& data) override {
    KERF_TRY_VOID(check_slot(slot));
    KERF_TRY_VOID(check_inputs(data));
    KERF_TRY_VOID(bring_back(slot));
    const Slot& state = slots_[static_cast<std::size_t>(slot)];
    const SlotMemory& memory = memory_of(state.holder);
    SlotReport report;
    for (std::size_t i = 0; i < layout_.buffers.size(); ++i) {
      const auto bytes = memory.bytes(slot, i);
      if (!memory.red_zones_intact(slot, i, state.poison)) report.broken_red_zones.push_back(layout_.buffers[i].name);
      if (static_cast<int>(i) < inputs_) {
        if (!same_bytes(bytes, data.inputs[i].bytes)) report.changed_inputs.push_back(layout_.buffers[i].name);
        continue;
      }
      const std::size_t output = i - static_cast<std::size_t>(inputs_);
      if (output >= data.expected.size()) continue;  // a data set without expected values
      report.outputs.push_back(oracle::compare(layout_.buffers[i].dtype, bytes, data.expected[output],
                                               data.bound[output], data.nan_is_free, data.allowance(output)));
    }
    const auto ran = kernels_.find(state.holder);
    if (ran != kernels_.end() && !ran->second.scratch_poison) {  // run since it was last filled
      const auto broken = ran->second.process->broken_scratch();
      report.broken_red_zones.insert(report.broken_red_zones.end(), broken.begin(), broken.end());
    }
    return report;
  }

  Result<ir::HostTensor> read_output(int slot, int output) override {
    KERF_TRY_VOID(check_slot(slot));
    KERF_TRY_VOID(bring_back(slot));
    const auto index = static_cast<std::size_t>(inputs_ + output);
    if (output < 0 || index >= layout_.buffers.size()) return fail(Errc::invalid_input, "no such output");
    ir::HostTensor tensor{layout_.buffers[index].dtype, layout_.buffers[index].shape, {}};
    const auto bytes = memory_of(slots_[static_cast<std::size_t>(slot)].holder).bytes(slot, index);
    tensor.bytes.assign(bytes.begin(), bytes.end());
    return tensor;
  }

  Status write_output(int slot, int output, std::span<const std::byte> bytes) override {
    KERF_TRY_VOID(check_slot(slot));
    KERF_TRY_VOID(bring_back(slot));
    const auto index = static_cast<std::size_t>(inputs_ + output);
    if (output < 0 || index >= layout_.buffers.size()) return fail(Errc::invalid_input, "no such output");
    if (static_cast<std::int64_t>(bytes.size()) != shape_.bytes[index])
      return fail(Errc::invalid_input, "the result has another size than the output");
    memory_of(slots_[static_cast<std::size_t>(slot)].holder).write(slot, index, bytes);
    return {};
  }

 private:
  struct Slot {
    std::uint64_t version = 0;  // 0: never staged
    Poison poison = Poison::a;
    KernelHandle holder = kHome;    // whose memory has the data
    KernelHandle expected = kHome;  // for whom the next staging is
    bool on_device = false;         // the holder's device has newer data than its memory

    void forget(KernelHandle kernel) {
      if (holder == kernel) *this = {.version = version, .poison = poison, .holder = kLost};
      if (expected == kernel) expected = kHome;
    }
  };
  struct Loaded {
    std::unique_ptr<KernelProcess> process;
    std::vector<std::uint64_t> uploaded;   // version of each slot that this worker has
    std::optional<Poison> scratch_poison;  // wanted before the next call
  };

  Status check_slot(int slot) const {
    if (slot >= 0 && slot < static_cast<int>(slots_.size())) return {};
    return fail(Errc::invalid_input, fmt::format("there is no slot {}", slot));
  }

  Status check_inputs(const oracle::DataSet& data) const {
    const std::size_t outputs = layout_.buffers.size() - static_cast<std::size_t>(inputs_);
    const bool unchecked = data.expected.empty() && data.bound.empty();  // may be staged and run, not checked
    if (static_cast<int>(data.inputs.size()) != inputs_ ||
        (!unchecked && (data.expected.size() != outputs || data.bound.size() != outputs)))
      return fail(Errc::invalid_input, "the data set has other tensors than the problem");
    for (std::size_t i = 0; i < data.inputs.size(); ++i) {
      if (static_cast<std::int64_t>(data.inputs[i].bytes.size()) != shape_.bytes[i])
        return fail(Errc::invalid_input,
                    fmt::format("input {} has another size than the problem", layout_.buffers[i].name));
    }
    return {};
  }

  SlotMemory& memory_of(KernelHandle holder) {
    const auto found = kernels_.find(holder);
    return found != kernels_.end() ? found->second.process->slots() : home_;
  }

  // Large slots exist once: who had the data before gives its pages back.
  void take_away(int slot, KernelHandle to) {
    const KernelHandle from = slots_[static_cast<std::size_t>(slot)].holder;
    if (keep_ || from == to || from == kLost) return;
    memory_of(from).release(slot);
    if (const auto found = kernels_.find(from); found != kernels_.end())
      found->second.uploaded[static_cast<std::size_t>(slot)] = 0;
  }

  // What was staged for nobody in particular goes to the kernel that runs on it first. It keeps the slot until the next
  // staging: another kernel would be shown its results.
  Status hand_over(int slot, KernelHandle handle) {
    Slot& state = slots_[static_cast<std::size_t>(slot)];
    if (state.holder == handle) return {};
    if (state.holder != kHome)
      return fail(Errc::invalid_input,
                  fmt::format("slot {} holds the results of another kernel; it must be staged again", slot));
    memory_of(handle).fill_from(home_, slot, state.poison);
    take_away(slot, handle);
    state.holder = handle;
    return {};
  }

  /// All that a batch of calls needs; nothing is left to do but to call.
  Result<std::optional<Fault>> prepare_batch(KernelHandle handle, std::span<const int> slots) {
    const auto found = kernels_.find(handle);
    if (found == kernels_.end()) return fail(Errc::invalid_input, "no such kernel is loaded");
    if (slots.size() > static_cast<std::size_t>(kMaxBatch))
      return fail(Errc::invalid_input, fmt::format("a batch has at most {} slots", kMaxBatch));
    for (const int slot : slots) {
      KERF_TRY_VOID(check_slot(slot));
      KERF_TRY_VOID(hand_over(slot, handle));
    }
    prepare_scratch(found->second);
    return prepare_slots(found->second, slots);
  }

  void ran_on(std::span<const int> slots) {
    if (!pool_.options.separate_memory) return;
    for (const int slot : slots) slots_[static_cast<std::size_t>(slot)].on_device = true;
  }

  void prepare_scratch(Loaded& kernel) {
    if (!kernel.scratch_poison) return;
    kernel.process->fill_scratch(*kernel.scratch_poison);
    kernel.scratch_poison.reset();
    if (pool_.options.separate_memory) std::ranges::fill(kernel.uploaded, 0);
  }

  // Brings what is not there yet to the device, or into the worker's page tables.
  Result<std::optional<Fault>> prepare_slots(Loaded& kernel, std::span<const int> slots) {
    std::vector<int> missing;
    for (const int slot : slots) {
      auto& known = kernel.uploaded[static_cast<std::size_t>(slot)];
      const auto version = slots_[static_cast<std::size_t>(slot)].version;
      if (pool_.options.separate_memory ? known == version : known != 0) continue;
      known = std::max<std::uint64_t>(version, 1);
      missing.push_back(slot);
    }
    if (missing.empty()) return std::optional<Fault>();
    if (!pool_.options.separate_memory) {
      for (const int slot : missing) kernel.process->fault_in(slot);
      return std::optional<Fault>();
    }
    KERF_TRY(RunOutcome outcome, kernel.process->execute(Action::upload, missing, kTransferLimit));
    if (auto* fault = std::get_if<Fault>(&outcome)) return std::optional<Fault>(std::move(*fault));
    return std::optional<Fault>();
  }

  Status bring_back(int slot) {
    Slot& state = slots_[static_cast<std::size_t>(slot)];
    if (state.holder == kLost) return fail(Errc::invalid_input, "the slot's results went with its kernel");
    if (!std::exchange(state.on_device, false)) return {};
    const auto found = kernels_.find(state.holder);
    if (found == kernels_.end()) return fail(Errc::invalid_input, "the slot's results went with its kernel");
    KERF_TRY(RunOutcome outcome, found->second.process->execute(Action::download, std::span(&slot, 1), kTransferLimit));
    if (auto* fault = std::get_if<Fault>(&outcome)) {
      Error error{Errc::tool_failed, "results cannot be copied from the device: " + fault->message};
      forget_all();
      return tl::unexpected<Error>(std::move(error));
    }
    return {};
  }

  // The seam promises that a fault voids every handle.
  RunOutcome void_handles(Fault fault) {
    forget_all();
    return fault;
  }

  void forget_all() {
    for (auto& slot : slots_) {
      if (slot.holder != kHome) slot.forget(slot.holder);
      slot.expected = kHome;
    }
    kernels_.clear();
  }

  ArenaPool::Impl& pool_;
  const ProblemLayout layout_;
  const SlotShape shape_;
  const int inputs_;
  bool keep_ = true;  // slots stay allocated where they were
  SlotMemory home_;   // what was staged for no kernel yet; no worker ever sees it
  std::vector<Slot> slots_;
  std::map<KernelHandle, Loaded> kernels_;
  KernelHandle last_handle_ = 0;
  std::uint64_t last_version_ = 0;
  Poison last_poison_ = Poison::a;
};

}  // namespace

Result<std::unique_ptr<Bench>> open_arena_bench(ArenaPool& pool, const ProblemLayout& layout) {
  if (layout.slots < 1 || layout.slots > kMaxBatch)
    return fail(Errc::invalid_input, fmt::format("a problem has 1 to {} slots", kMaxBatch));
  if (!std::ranges::is_partitioned(layout.buffers, [](const auto& buffer) { return buffer.role == BufferRole::input; }))
    return fail(Errc::invalid_input, "inputs come before outputs");
  SlotShape shape;
  std::int64_t total = 0;
  for (const auto& buffer : layout.buffers) {
    shape.bytes.push_back(tensor_bytes(buffer.dtype, buffer.shape));
    shape.inputs += buffer.role == BufferRole::input ? 1 : 0;
    if (shape.bytes.back() < 0 || shape.bytes.back() > kMostBytes - total)
      return fail(Errc::invalid_input, fmt::format("buffer {} is too large for any memory", buffer.name));
    total += shape.bytes.back();
  }
  KERF_TRY(SlotMemory home, SlotMemory::make(shape, layout.slots, pool.impl().next_turn()));
  return std::make_unique<ArenaBench>(pool.impl(), layout, std::move(shape), std::move(home));
}

}  // namespace kerf
