#pragma once
// Small stand-ins for C and C++ headers that kernels include out of habit and that NVRTC does not bring: <stdint.h>,
// <math.h>, <float.h>, ... What they declare is what device code can use of them.

#include <string>
#include <vector>

namespace kerf {

struct StandardHeader {
  const char* name;
  const char* text;
};

const std::vector<StandardHeader>& standard_headers();

/// NVRTC's options for kernels, without architecture and folders.
std::vector<std::string> kernel_options();

}  // namespace kerf
