#pragma once
// Which judge was it? Verdicts that another one gave are not taken from the cache.

#include <string_view>

namespace kerf {

/// A hash over the sources that a verdict or a measurement depends on; made by the build.
std::string_view judge_sources();

}  // namespace kerf
