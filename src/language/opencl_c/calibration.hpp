#pragma once
// The kernels whose rates are an OpenCL device's peaks.

#include <vector>

#include "language/language.hpp"

namespace kerf::opencl {

std::vector<CalibrationKernel> calibration_kernels(bool cpu, bool fp64);

}  // namespace kerf::opencl
