#include "device/arena/arena_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "device/arena/kernel_process.hpp"
#include "device/arena/plan_numbers.hpp"

namespace kerf {
namespace {

using namespace arena;
using namespace std::chrono_literals;

constexpr std::int64_t kCopyGrain = 4 << 20;
constexpr auto kTransferLimit = 60s;

bool same_bytes(const std::byte* a, std::span<const std::byte> b) {
  return b.empty() || std::memcmp(a, b.data(), b.size()) == 0;
}

class ArenaBench final : public Bench {
 public:
  ArenaBench(ArenaPool::Impl& pool, ProblemLayout layout, SharedMemory memory, std::vector<std::vector<Place>> places)
      : pool_(pool),
        layout_(std::move(layout)),
        memory_(std::move(memory)),
        places_(std::move(places)),
        slots_(places_.size()) {
    inputs_ = static_cast<int>(std::ranges::count(layout_.buffers, BufferRole::input, &BufferSpec::role));
  }

  Result<std::variant<KernelHandle, Fault>> load(const Artifact& artifact, const LaunchPlan& plan,
                                                 const Bindings& constants) override {
    KERF_TRY(auto evaluated, evaluate_plan(plan, layout_.buffers, constants));
    if (auto* fault = std::get_if<Fault>(&evaluated)) return std::move(*fault);
    auto& numbers = std::get<PlanNumbers>(evaluated);
    LoadMessage message;
    message.inputs = inputs_;
    message.slots = places_;
    message.launches = std::move(numbers.launches);
    KERF_TRY(auto loaded,
             KernelProcess::load(pool_, memory_, std::move(message), std::move(numbers.scratch), artifact));
    if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
    Loaded kernel;
    kernel.process = std::move(std::get<std::unique_ptr<KernelProcess>>(loaded));
    kernel.uploaded.assign(slots_.size(), 0);
    kernel.scratch_poison = last_poison_;
    kernels_.emplace(++last_handle_, std::move(kernel));
    return last_handle_;
  }

  void unload(KernelHandle kernel) override {
    forget_owner(kernel);
    kernels_.erase(kernel);
  }

  Status stage(int slot, const oracle::DataSet& data, Poison poison) override {
    KERF_TRY_VOID(check_slot(slot));
    KERF_TRY_VOID(check_inputs(data));
    Slot& state = slots_[static_cast<std::size_t>(slot)];
    const auto& places = places_[static_cast<std::size_t>(slot)];
    for (std::size_t i = 0; i < places.size(); ++i) {
      fill_red_zones(memory_.data(), places[i], poison);
      if (static_cast<int>(i) >= inputs_) {
        fill_poison(memory_.data(), places[i], poison);
        continue;
      }
      const std::byte* from = data.inputs[i].bytes.data();
      std::byte* to = memory_.data() + places[i].data;
      parallel_for(places[i].bytes, kCopyGrain, 0, [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
      });
    }
    state = {.version = ++last_version_, .poison = poison, .owner = -1};
    last_poison_ = poison;
    for (auto& [handle, kernel] : kernels_) kernel.scratch_poison = poison;
    return {};
  }

  Result<RunOutcome> run(KernelHandle handle, std::span<const int> slots, std::chrono::milliseconds limit) override {
    const auto found = kernels_.find(handle);
    if (found == kernels_.end()) return fail(Errc::invalid_input, "no such kernel is loaded");
    if (slots.size() > static_cast<std::size_t>(kMaxBatch))
      return fail(Errc::invalid_input, fmt::format("a batch has at most {} slots", kMaxBatch));
    for (const int slot : slots) KERF_TRY_VOID(check_slot(slot));
    Loaded& kernel = found->second;
    prepare_scratch(kernel);
    KERF_TRY(auto prepared, prepare_slots(kernel, slots));
    if (prepared) return void_handles(std::move(*prepared));
    KERF_TRY(RunOutcome outcome, kernel.process->execute(Action::run, slots, limit));
    if (std::holds_alternative<Fault>(outcome)) return void_handles(std::get<Fault>(std::move(outcome)));
    if (pool_.options.separate_memory) {
      for (const int slot : slots) slots_[static_cast<std::size_t>(slot)].owner = handle;
    }
    return outcome;
  }

  Result<SlotReport> check(int slot, const oracle::DataSet& data) override {
    KERF_TRY_VOID(check_slot(slot));
    KERF_TRY_VOID(check_inputs(data));
    KERF_TRY_VOID(bring_back(slot));
    const Slot& state = slots_[static_cast<std::size_t>(slot)];
    const auto& places = places_[static_cast<std::size_t>(slot)];
    SlotReport report;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::byte* bytes = memory_.data() + places[i].data;
      if (!red_zones_intact(memory_.data(), places[i], state.poison))
        report.broken_red_zones.push_back(layout_.buffers[i].name);
      if (static_cast<int>(i) < inputs_) {
        if (!same_bytes(bytes, data.inputs[i].bytes)) report.changed_inputs.push_back(layout_.buffers[i].name);
        continue;
      }
      const std::size_t output = i - static_cast<std::size_t>(inputs_);
      if (output >= data.expected.size()) continue;  // a data set without expected values
      report.outputs.push_back(
          oracle::compare(layout_.buffers[i].dtype, {bytes, static_cast<std::size_t>(places[i].bytes)},
                          data.expected[output], data.bound[output], data.nan_is_free, data.allowance(output)));
    }
    for (const auto& [handle, kernel] : kernels_) {
      if (kernel.scratch_poison) continue;  // not run since it was last filled
      const auto broken = kernel.process->broken_scratch();
      report.broken_red_zones.insert(report.broken_red_zones.end(), broken.begin(), broken.end());
    }
    return report;
  }

  Result<ir::HostTensor> read_output(int slot, int output) override {
    KERF_TRY_VOID(check_slot(slot));
    KERF_TRY_VOID(bring_back(slot));
    const auto index = static_cast<std::size_t>(inputs_ + output);
    if (output < 0 || index >= layout_.buffers.size()) return fail(Errc::invalid_input, "no such output");
    const Place& place = places_[static_cast<std::size_t>(slot)][index];
    ir::HostTensor tensor{layout_.buffers[index].dtype, layout_.buffers[index].shape, {}};
    const std::byte* bytes = memory_.data() + place.data;
    tensor.bytes.assign(bytes, bytes + place.bytes);
    return tensor;
  }

 private:
  struct Slot {
    std::uint64_t version = 0;  // 0: never staged
    Poison poison = Poison::a;
    KernelHandle owner = -1;  // kernel whose device memory holds newer data than the arena
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
      if (static_cast<std::int64_t>(data.inputs[i].bytes.size()) != places_[0][i].bytes)
        return fail(Errc::invalid_input,
                    fmt::format("input {} has another size than the problem", layout_.buffers[i].name));
    }
    return {};
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
      for (const int slot : missing) {
        for (const auto& place : places_[static_cast<std::size_t>(slot)]) kernel.process->fault_in(place);
      }
      return std::optional<Fault>();
    }
    KERF_TRY(RunOutcome outcome, kernel.process->execute(Action::upload, missing, kTransferLimit));
    if (auto* fault = std::get_if<Fault>(&outcome)) return std::optional<Fault>(std::move(*fault));
    return std::optional<Fault>();
  }

  Status bring_back(int slot) {
    Slot& state = slots_[static_cast<std::size_t>(slot)];
    if (state.owner < 0) return {};
    const auto found = kernels_.find(std::exchange(state.owner, -1));
    if (found == kernels_.end()) return fail(Errc::invalid_input, "the slot's results went with its kernel");
    KERF_TRY(RunOutcome outcome, found->second.process->execute(Action::download, std::span(&slot, 1), kTransferLimit));
    if (auto* fault = std::get_if<Fault>(&outcome)) {
      Error error{Errc::tool_failed, "results cannot be copied from the device: " + fault->message};
      kernels_.clear();
      return tl::unexpected<Error>(std::move(error));
    }
    return {};
  }

  // The seam promises that a fault voids every handle.
  RunOutcome void_handles(Fault fault) {
    kernels_.clear();
    for (auto& slot : slots_) slot.owner = -1;
    return fault;
  }

  void forget_owner(KernelHandle kernel) {
    for (auto& slot : slots_) {
      if (slot.owner == kernel) slot.owner = -1;
    }
  }

  ArenaPool::Impl& pool_;
  const ProblemLayout layout_;
  SharedMemory memory_;
  const std::vector<std::vector<Place>> places_;  // [slot][buffer]
  int inputs_ = 0;
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
  ZonePlanner planner(0);
  std::vector<std::vector<Place>> places(static_cast<std::size_t>(layout.slots));
  for (int slot = 0; slot < layout.slots; ++slot) {
    for (std::size_t i = 0; i < layout.buffers.size(); ++i) {
      const auto bytes = tensor_bytes(layout.buffers[i].dtype, layout.buffers[i].shape);
      places[static_cast<std::size_t>(slot)].push_back(planner.add(bytes, slot * 5 + static_cast<int>(i) * 11));
    }
  }
  KERF_TRY(SharedMemory memory, SharedMemory::make(planner.end()));
  return std::make_unique<ArenaBench>(pool.impl(), layout, std::move(memory), std::move(places));
}

}  // namespace kerf
