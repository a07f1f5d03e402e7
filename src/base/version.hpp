#pragma once

namespace kerf {

/// Part of every cache key: raise it when a verdict could change.
inline constexpr const char* kKerfVersion = "0.1.0";

}  // namespace kerf
