#pragma once
// A device in the same process, for tests: kernels are C++ functions, faults are scripted.

#include <functional>
#include <map>
#include <vector>

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
    std::optional<Fault> fault;
    int calls = 0;
  };

  explicit FakeBench(ProblemLayout layout)
      : layout_(std::move(layout)), slots_(static_cast<std::size_t>(layout_.slots)) {}

  std::vector<Kernel> kernels;                ///< handle = index
  std::vector<std::string> broken_red_zones;  ///< reported by every check
  std::vector<int> staged;                    ///< slots in the order they were staged
  std::vector<int> ran;                       ///< slots in the order kernels ran on them

  Result<std::variant<KernelHandle, Fault>> load(const Artifact&, const LaunchPlan&, const Bindings&) override {
    return fail(Errc::unavailable, "kernels of a fake bench are set by the test");
  }
  void unload(KernelHandle) override {}

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

  Result<RunOutcome> run(KernelHandle kernel, std::span<const int> slots, std::chrono::milliseconds) override {
    Kernel& k = kernels[static_cast<std::size_t>(kernel)];
    if (k.fault) return RunOutcome(*k.fault);
    for (const int slot : slots) {
      ++k.calls;
      ran.push_back(slot);
      if (k.body) k.body(slots_[static_cast<std::size_t>(slot)]);
    }
    return RunOutcome(Timing{0, k.us * static_cast<double>(slots.size())});
  }

  Result<SlotReport> check(int slot, const oracle::DataSet& data) override {
    const FakeBuffers& buffers = slots_[static_cast<std::size_t>(slot)];
    SlotReport report;
    report.broken_red_zones = broken_red_zones;
    for (std::size_t i = 0; i < data.inputs.size(); ++i)
      if (buffers[i].bytes != data.inputs[i].bytes) report.changed_inputs.push_back(layout_.buffers[i].name);
    for (std::size_t k = 0; k < data.expected.size(); ++k) {
      const ir::HostTensor& actual = buffers[data.inputs.size() + k];
      report.outputs.push_back(
          oracle::compare(actual.dtype, actual.bytes, data.expected[k], data.bound[k], data.nan_is_free, 1));
    }
    return report;
  }

  Result<ir::HostTensor> read_output(int slot, int output) override {
    const FakeBuffers& buffers = slots_[static_cast<std::size_t>(slot)];
    std::size_t inputs = 0;
    for (const BufferSpec& spec : layout_.buffers) inputs += spec.role == BufferRole::input ? 1 : 0;
    return buffers[inputs + static_cast<std::size_t>(output)];
  }

 private:
  ProblemLayout layout_;
  std::vector<FakeBuffers> slots_;
};

}  // namespace kerf
