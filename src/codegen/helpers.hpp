#pragma once
// Small functions that generated code may call; a file contains only those it uses.

#include <set>
#include <string>

#include "codegen/naive.hpp"

namespace kerf::codegen {

/// Definitions of the helpers named in `used` ("f16", "bf16", "wrap", "int_div", "int_floor_div", "int_remainder",
/// "int_pow", "real_remainder", "round_operand") and of what they need themselves.
std::string helper_definitions(const std::set<std::string>& used, const DialectTraits& dialect,
                               const NaiveOptions& options);

}  // namespace kerf::codegen
