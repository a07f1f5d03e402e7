#pragma once
// Raw counter values of a device as shares of what the device could do.

#include "device/device.hpp"
#include "measure/peaks.hpp"
#include "model/counters.hpp"

namespace kerf {

/// `peaks` null: the device was not calibrated, so a processor's share of the memory bandwidth is not known (a GPU's
/// counters bring their own). Values that are not finite or negative count as absent.
Counters counters_of(const Counted& counted, const DeviceFacts& facts, const Peaks* peaks);

}  // namespace kerf
