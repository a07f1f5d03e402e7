#pragma once
// Kernels whose rates are a GPU's peaks.

#include <string>
#include <vector>

#include "language/language.hpp"

namespace kerf {

/// For `arch` as in DeviceFacts ("sm_90"). Tensor peaks of sm_90 use warpgroup instructions (wgmma), others mma.sync.
std::vector<CalibrationKernel> cuda_calibration_kernels(const std::string& arch);

}  // namespace kerf
