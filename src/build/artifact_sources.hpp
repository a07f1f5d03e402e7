#pragma once
// Who compiled it and read its code? Artifacts that another version made are not taken from the cache: their static
// facts would be what that version saw in them.

#include <string_view>

namespace kerf {

/// A hash over the sources that an artifact and its static facts depend on; made by the build.
std::string_view artifact_sources();

}  // namespace kerf
