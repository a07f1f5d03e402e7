#pragma once
// Operators of the language on values: literals fold, extents stay extents, everything else becomes nodes.

#include <string_view>

#include "ir/expression/value.hpp"

namespace kerf::ir {

/// + - * / // % ** @ < <= > >= == != & | ^ and or. Errors go to `ops`.
Value binary_operation(Ops& ops, std::string_view symbol, const Value& a, const Value& b);
/// - + ~ not.
Value unary_operation(Ops& ops, std::string_view symbol, const Value& a);

}  // namespace kerf::ir
