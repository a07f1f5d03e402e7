#pragma once
// Kernels whose rate is a peak of the processor.

#include <vector>

#include "language/language.hpp"

namespace kerf::cpp {

std::vector<CalibrationKernel> calibration_kernels();

}  // namespace kerf::cpp
