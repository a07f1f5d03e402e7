#pragma once
// A device that is not here, described in a file, so that plans can be made for it.

#include <map>
#include <string>

#include "base/result.hpp"
#include "device/device.hpp"

namespace kerf::cli {

struct AssumedDevice {
  DeviceFacts facts;
  std::map<std::string, double> rates;  ///< as Peaks::rates
};

/// From JSON: {"name", "compute_units", "memory_bytes", "cache_bytes", "max_threads_per_block", "max_shared_bytes",
/// "lacks": [...], "runs_on_host", "rates": {"copy": bytes/s, "fma_f32": FLOP/s, ...}}, each optional; any other name
/// is an error.
Result<AssumedDevice> read_assumed_device(const std::string& path);

}  // namespace kerf::cli
