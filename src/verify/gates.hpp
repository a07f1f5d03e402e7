#pragma once
// The gates a candidate passes, as functions over values, in the order it meets them. Their names are in
// model/gate.hpp.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "model/artifact.hpp"
#include "model/candidate.hpp"
#include "model/task.hpp"
#include "oracle/dataset.hpp"
#include "verify/refusal.hpp"

namespace kerf {

/// What the header of a candidate is held to. Borrowed for the call.
struct HeaderRules {
  const Task& task;
  std::span<const ShapeSet> shapes;  ///< every one must meet the candidate's requirements
  const Bindings& tunables;
  std::string target;       ///< of the judge
  bool host_entry = false;  ///< the language calls one entry point, so no launch plan is needed
};
/// Parse: the header is for this target, fits the task, and its requirements hold for every shape.
std::optional<Refusal> judge_header(const Candidate& candidate, const HeaderRules& rules);

/// Static budget: no writable globals, no code at load time, no symbols outside the language's allowed set.
std::optional<Refusal> judge_static(const StaticFacts& facts);

/// What a call left behind. Borrowed for the call.
struct SlotState {
  const SlotReport& report;
  const oracle::DataSet& data;
  const std::vector<BufferSpec>& outputs;  ///< output buffers of the layout, in order
};
/// One gate over the state of a slot; nothing when the call passes. The list of them is in slot_gates.cpp.
using SlotGate = std::optional<Refusal> (*)(const SlotState& state);

/// Judges a slot after a call, checked or timed: red zones, inputs, values, accuracy class; the first failing gate
/// speaks.
std::optional<Refusal> judge_slot(const SlotReport& report, const oracle::DataSet& data,
                                  const std::vector<BufferSpec>& outputs);

/// Adds the bounding box of the wrong elements to a wrong-value refusal by reading the slot (slow; for the final
/// report).
void add_wrong_box(Refusal& refusal, Bench& bench, int slot, const oracle::DataSet& data,
                   const std::vector<BufferSpec>& outputs);

/// A time below this share of the physical floor is not measurement noise.
inline constexpr double kFloorMargin = 0.8;
/// Floor: faster than physics. `floor_us` is the least time that is believable (measure/peaks.hpp).
std::optional<Refusal> judge_floor(double median_us, double floor_us, const std::string& shape);

/// The device's clock may claim this many times the host's time for the same batch.
inline constexpr double kClockFactor = 1.5;
/// Clock: `disagreement` is the largest ratio of device to host time of a batch, 0 without a device clock.
std::optional<Refusal> judge_clock(double disagreement);

}  // namespace kerf
