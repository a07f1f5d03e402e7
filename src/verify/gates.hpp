#pragma once
// The gates a candidate passes: facts of the compiled code, and the state of a slot after a call.

#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "model/artifact.hpp"
#include "oracle/dataset.hpp"
#include "verify/refusal.hpp"

namespace kerf {

/// Static budget: no writable globals, no code at load time, no symbols outside the language's allowed set.
std::optional<Refusal> judge_static(const StaticFacts& facts);

/// Root mean square of |error| / bound per output that a plain implementation of the task's accuracy class reached on
/// the same data; empty when it is not known.
using HonestAccuracy = std::vector<double>;

/// A candidate may be this many times less accurate (rms) than the plain implementation ...
inline constexpr double kAccuracyFactor = 8;
/// ... more where few elements make the rms uncertain (by 3 / sqrt(elements)) ...
inline constexpr double kAccuracySpread = 3;
/// ... and below this rms no difference matters: a single running sum of any length stays under it.
inline constexpr double kAccuracyFloor = 0.05;

double rms(const oracle::CompareStats& stats);

/// Judges a slot after a call: red zones, inputs, values, accuracy class; the first failing gate speaks.
/// `outputs` are the output buffers of the layout, in order.
std::optional<Refusal> judge_slot(const SlotReport& report, const oracle::DataSet& data, const HonestAccuracy& honest,
                                  const std::vector<BufferSpec>& outputs);

/// Adds the bounding box of the wrong elements to a wrong-value refusal by reading the slot (slow; for the final
/// report).
void add_wrong_box(Refusal& refusal, Bench& bench, int slot, const oracle::DataSet& data,
                   const std::vector<BufferSpec>& outputs);

}  // namespace kerf
