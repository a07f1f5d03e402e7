#pragma once
// Special registers by which a kernel could tell one call from another: clocks, and where on the device it runs.

#include <string>
#include <string_view>
#include <vector>

namespace kerf {

/// Those that the PTX text reads, each once, with what they tell: "%clock64 (a clock)". Positions within a launch
/// (%tid, %laneid, %lanemask_lt, %cluster_ctarank, ...) and sizes are everybody's business and are not listed.
std::vector<std::string> identifying_registers(std::string_view ptx);

}  // namespace kerf
