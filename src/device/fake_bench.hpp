#pragma once
// A device in the same process, for tests: kernels are C++ functions, faults are scripted.

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "device/device.hpp"

namespace kerf {

/// Buffers of one slot, inputs then outputs.
using FakeBuffers = std::vector<ir::HostTensor>;

class FakeBench final : public Bench {
 public:
  /// What a kernel does to a slot, and how long it claims to take.
  struct Kernel {
    std::function<void(FakeBuffers&)> body;
    double us = 10;
    std::optional<Fault> fault;                         ///< instead of running
    int calls = 0;                                      ///< so far
    int fault_after = 0;                                ///< calls that go well before the fault
    double device_us = 0;                               ///< by the device's clock; 0: it has none
    double drift_us = 0;                                ///< every call takes this much longer than the one before
    std::optional<Fault> load_fault{};                  ///< instead of loading
    bool voided = false;                                ///< a fault replaced the worker since it was loaded
    std::function<double(const FakeBuffers&)> us_on{};  ///< instead of `us`, by the data of the slot
  };
  /// What loaded code does, chosen by its artifact and constants.
  using Behaviour = std::function<Kernel(const Artifact& artifact, const Bindings& constants)>;

  /// Without a behaviour nothing can be loaded: the test fills `kernels` itself.
  explicit FakeBench(ProblemLayout layout, Behaviour behaviour = {}, FakeClock* clock = nullptr)
      : layout_(std::move(layout)),
        slots_(static_cast<std::size_t>(layout_.slots)),
        behaviour_(std::move(behaviour)),
        clock_(clock) {}

  std::vector<Kernel> kernels;                ///< handle = index
  std::vector<std::string> broken_red_zones;  ///< reported by every check
  std::vector<int> staged;                    ///< slots in the order they were staged
  std::vector<int> ran;                       ///< slots in the order kernels ran on them
  std::vector<CallManner> manners;            ///< of the calls that had one
  int stagings_expected = 0;                  ///< for which `expect` named the kernel

  Result<std::variant<KernelHandle, Fault>> load(const Artifact& artifact, const LaunchPlan&,
                                                 const Bindings& constants) override {
    if (!behaviour_) return fail(Errc::unavailable, "kernels of a fake bench are set by the test");
    kernels.push_back(behaviour_(artifact, constants));
    if (const auto fault = kernels.back().load_fault) {
      replace_worker();
      return *fault;
    }
    return static_cast<KernelHandle>(kernels.size() - 1);
  }
  void unload(KernelHandle kernel) override { kernels[static_cast<std::size_t>(kernel)].voided = true; }

  void expect(KernelHandle, std::span<const int> slots) override {
    stagings_expected += static_cast<int>(slots.size());
  }

  Status stage(int slot, const oracle::DataSet& data, Poison poison) override {
    staged.push_back(slot);
    FakeBuffers& buffers = slots_[static_cast<std::size_t>(slot)];
    buffers = data.inputs;
    for (const BufferSpec& spec : layout_.buffers) {
      if (spec.role != BufferRole::output) continue;
      buffers.push_back(ir::make_tensor(spec.dtype, spec.shape));
      for (std::size_t i = 0; i < buffers.back().bytes.size(); ++i)
        buffers.back().bytes[i] = static_cast<std::byte>(static_cast<unsigned>(poison) >> (8 * (i % 2)));
    }
    return {};
  }

  Result<RunOutcome> run(KernelHandle kernel, std::span<const int> slots, std::chrono::milliseconds limit) override {
    Kernel& k = kernels[static_cast<std::size_t>(kernel)];
    if (k.voided) return fail(Errc::unavailable, "the handle is void: the worker was replaced or the kernel unloaded");
    const double batch = static_cast<double>(slots.size());
    double us = batch * (k.us + k.drift_us * (k.calls + (batch - 1) / 2));
    if (k.us_on) {
      us = 0;
      for (const int slot : slots) us += k.us_on(slots_[static_cast<std::size_t>(slot)]);
    }
    if (clock_ != nullptr) clock_->advance(Nanoseconds(static_cast<std::int64_t>(us * 1000)));
    if (behaviour_ && us > 1000.0 * static_cast<double>(limit.count())) {
      replace_worker();
      return RunOutcome(Fault{Fault::Kind::timed_out, "took too long"});
    }
    for (const int slot : slots) {
      if (k.fault && k.calls >= k.fault_after) {
        const Fault fault = *k.fault;
        replace_worker();
        return RunOutcome(fault);
      }
      ++k.calls;
      ran.push_back(slot);
      if (k.body) k.body(slots_[static_cast<std::size_t>(slot)]);
    }
    return RunOutcome(Timing{k.device_us * batch, us});
  }

  Result<RunOutcome> run_as(KernelHandle kernel, int slot, const CallManner& manner,
                            std::chrono::milliseconds limit) override {
    manners.push_back(manner);
    return run(kernel, std::span(&slot, 1), limit);
  }

  Result<SlotReport> check(int slot, const oracle::DataSet& data) override {
    const FakeBuffers& buffers = slots_[static_cast<std::size_t>(slot)];
    SlotReport report;
    report.broken_red_zones = broken_red_zones;
    for (std::size_t i = 0; i < data.inputs.size(); ++i)
      if (buffers[i].bytes != data.inputs[i].bytes) report.changed_inputs.push_back(layout_.buffers[i].name);
    for (std::size_t k = 0; k < data.expected.size(); ++k) {
      const ir::HostTensor& actual = buffers[data.inputs.size() + k];
      report.outputs.push_back(oracle::compare(actual.dtype, actual.bytes, data.expected[k], data.bound[k],
                                               data.nan_is_free, data.allowance(k), 1));
    }
    return report;
  }

  Status write_output(int slot, int output, std::span<const std::byte> bytes) override {
    const auto inputs = std::ranges::count(layout_.buffers, BufferRole::input, &BufferSpec::role);
    auto& buffer = slots_[static_cast<std::size_t>(slot)][static_cast<std::size_t>(inputs + output)];
    buffer.bytes.assign(bytes.begin(), bytes.end());
    return {};
  }

  Result<ir::HostTensor> read_output(int slot, int output) override {
    const FakeBuffers& buffers = slots_[static_cast<std::size_t>(slot)];
    std::size_t inputs = 0;
    for (const BufferSpec& spec : layout_.buffers) inputs += spec.role == BufferRole::input ? 1 : 0;
    return buffers[inputs + static_cast<std::size_t>(output)];
  }

 private:
  /// Handles that came from `load` are void from now on.
  void replace_worker() {
    if (!behaviour_) return;
    for (Kernel& kernel : kernels) kernel.voided = true;
  }

  ProblemLayout layout_;
  std::vector<FakeBuffers> slots_;
  Behaviour behaviour_;
  FakeClock* clock_ = nullptr;  // moved on by the time kernels take, when there is one
};

/// Opens fake benches; the artifacts are those of FakeLanguage.
class FakeDevice final : public Device {
 public:
  DeviceFacts told;  ///< what `facts` says
  FakeBench::Behaviour behaviour;
  FakeClock* clock = nullptr;
  std::vector<FakeBench*> benches;     ///< all that were opened; owned by who opened them
  std::vector<ProblemLayout> layouts;  ///< likewise

  const DeviceFacts& facts() const override { return told; }
  Result<std::unique_ptr<Bench>> open(const ProblemLayout& layout) override {
    auto bench = std::make_unique<FakeBench>(layout, behaviour, clock);
    benches.push_back(bench.get());
    layouts.push_back(layout);
    return std::unique_ptr<Bench>(std::move(bench));
  }
};

}  // namespace kerf
