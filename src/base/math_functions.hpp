#pragma once
// The functions of C's mathematical library (libm of glibc), by name.

#include <string_view>

namespace kerf {

/// "exp", "expf", "expl", and every other function of <math.h> and <complex.h> that computes a value.
bool is_math_function(std::string_view name);

}  // namespace kerf
