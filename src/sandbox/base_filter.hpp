#pragma once
// The system-call filter every sandboxed process gets before exec: what no compiler, oracle or worker ever needs.

#include <linux/filter.h>

#include <vector>

#include "base/result.hpp"

namespace kerf {

/// A compiled filter, ready for seccomp(SECCOMP_SET_MODE_FILTER). Refused calls fail with EPERM.
Result<std::vector<sock_filter>> make_base_filter(bool network);

}  // namespace kerf
