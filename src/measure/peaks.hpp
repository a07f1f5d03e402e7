#pragma once
// Measured peaks of a device and the floor they give.

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "device/device.hpp"
#include "ir/analysis/cost.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"

namespace kerf {

inline constexpr int kPeaksSchema = 1;

/// Rates per second: "copy" in bytes read plus written, the others in FLOPs.
struct Peaks {
  std::string device;  ///< name and driver they were measured on
  std::map<std::string, double> rates;
};

/// From the store in `folder`; nothing when this device was never calibrated (or under another driver).
std::optional<Peaks> load_peaks(const std::filesystem::path& folder, const DeviceFacts& facts);
Status save_peaks(const std::filesystem::path& folder, const DeviceFacts& facts, const Peaks& peaks);

/// The least time the task can take: bytes over bandwidth or FLOPs over the best rate its precision allows, whichever
/// is larger. Nothing without a "copy" rate. `compute` uses the fastest unit that reaches the task's accuracy class,
/// units that reach it by split products included; the physical floor (see `physical_floor_us`) takes the device's
/// highest rate as it is.
std::optional<SpeedOfLight> floor_of(const ir::Cost& cost, const Peaks& peaks, Precision precision);

/// A time below this is not believable: a conservative floor with the highest rates and without FLOPs that algebra can
/// avoid. Data smaller than the last-level cache gives no memory floor.
std::optional<double> physical_floor_us(const ir::Cost& cost, const Peaks& peaks, const DeviceFacts& facts);

}  // namespace kerf
