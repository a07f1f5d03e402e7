#pragma once
// Measures a device's peaks by running the language's calibration kernels like any candidate.

#include "base/clock.hpp"
#include "base/result.hpp"
#include "device/device.hpp"
#include "language/language.hpp"
#include "measure/peaks.hpp"

namespace kerf {

/// Best of several runs per peak (a peak is what the device can reach, not what it reaches on average). Kernels that
/// the device refuses are left out; an error only when the copy peak cannot be measured.
Result<Peaks> calibrate(Language& language, Device& device);

}  // namespace kerf
