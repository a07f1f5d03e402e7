#pragma once

namespace kerf {

/// Part of the caches' keys, as the judge's sources are (search/judge_sources.hpp).
inline constexpr const char* kKerfVersion = "0.1.0";

}  // namespace kerf
