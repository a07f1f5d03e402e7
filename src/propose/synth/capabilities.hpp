#pragma once
// What a variant may ask of a language and its device: the words of `needs` in the manifests under kernels/.

#include <string>
#include <string_view>
#include <vector>

#include "codegen/dialect.hpp"
#include "device/device.hpp"

namespace kerf::synth {

/// runs_on_host: kernels run on the host's cores, where barriers and many work-items per group cost time; sub_groups:
/// KERF_WARP > 1; matrix_units: products of small matrices by a warp; warpgroup_matrix_units: by four warps, from
/// shared memory; async_copy: into shared memory while threads go on.
const std::vector<std::string>& known_capabilities();

/// Whether kernels in this language on this device have the capability; facts that are not known count for it.
bool has_capability(const codegen::DialectTraits& dialect, const DeviceFacts& facts, std::string_view word);

/// Whether all of `needs` hold; "!word" asks for the lack of it.
bool meets(const codegen::DialectTraits& dialect, const DeviceFacts& facts, const std::vector<std::string>& needs);

}  // namespace kerf::synth
