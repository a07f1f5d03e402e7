#include "base/math_functions.hpp"

#include <algorithm>
#include <iterator>

namespace kerf {
namespace {

// Each is there with the suffixes f (float) and l (long double) too.
constexpr std::string_view kMath[] = {
    "acos",   "acosh",     "asin",    "asinh",  "atan",      "atan2",     "atanh", "cbrt",      "ceil",   "copysign",
    "cos",    "cosh",      "erf",     "erfc",   "exp",       "exp10",     "exp2",  "expm1",     "fabs",   "fdim",
    "floor",  "fma",       "fmax",    "fmin",   "fmod",      "frexp",     "hypot", "ilogb",     "j0",     "j1",
    "jn",     "ldexp",     "lgamma",  "llrint", "llround",   "log",       "log10", "log1p",     "log2",   "logb",
    "lrint",  "lround",    "modf",    "nan",    "nearbyint", "nextafter", "pow",   "remainder", "remquo", "rint",
    "round",  "roundeven", "scalbln", "scalbn", "sin",       "sincos",    "sinh",  "sqrt",      "tan",    "tanh",
    "tgamma", "trunc",     "y0",      "y1",     "yn",        "cabs",      "cexp",  "clog",      "cpow",   "csqrt",
    "csin",   "ccos",      "carg",
};

}  // namespace

bool is_math_function(std::string_view name) {
  const auto known = [](std::string_view word) { return std::ranges::find(kMath, word) != std::end(kMath); };
  if (known(name)) return true;
  return (name.ends_with('f') || name.ends_with('l')) && known(name.substr(0, name.size() - 1));
}

}  // namespace kerf
