#pragma once
// Names that cross from tasks and candidates into generated code, in four languages at once.

#include <string_view>

#include "base/result.hpp"

namespace kerf {

/// True for words that C, C++, CUDA C++ or OpenCL C give a meaning of their own (keywords, built-in types and
/// variables).
bool is_reserved_word(std::string_view word);

/// Ok when `name` may be used for a buffer, a shape symbol or a tunable: an identifier of at most 64 characters that no
/// language reserves and that does not start with an underscore pair or "kerf_". The error says what is wrong with it;
/// it starts with `what` ("input", "shape symbol").
Status check_name(std::string_view what, std::string_view name);
/// The same for a shape symbol, which kernels are compiled with as a constant: nor may the C library have it.
Status check_symbol(std::string_view what, std::string_view name);

}  // namespace kerf
