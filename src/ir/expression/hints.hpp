#pragma once
// What a refusal adds for people who write as in PyTorch, NumPy or C.

#include <string>

#include "ir/expression/value.hpp"

namespace kerf::ir {

/// After the name of a dtype that there is not: " (did you mean 'f16'?); choose one of: f32, f16, ...".
std::string dtype_hint(const std::string& word);

/// After the name of a function that there is not: " (did you mean 'gelu'?)".
std::string function_hint(const std::string& name);

/// How a method of this name is written: "f16(x)", "sum(x, ...)".
std::string as_function(const std::string& method);

/// After "must be an integer, not ...": what to write where a quotient or a tensor of indices was given; else "".
std::string integer_hint(const Value& value);

/// After "must be a tensor, not a list": how to take a part of it; "" for what is no list.
std::string part_hint(const Value& value);

}  // namespace kerf::ir
