#pragma once
// Element types. The names are stored in tasks and evaluations, so they are never renamed.

#include <cstddef>
#include <optional>
#include <string_view>

namespace kerf {

enum class DType { f32, f16, bf16, f64, i32, i64, boolean };

std::string_view dtype_name(DType dtype);  ///< "f32", "f16", "bf16", "f64", "i32", "i64", "bool"
std::optional<DType> dtype_from_name(std::string_view name);
std::size_t dtype_size(DType dtype);  ///< bytes per element; bool is one byte, 0 or 1
bool is_float(DType dtype);
bool is_integer(DType dtype);  ///< i32, i64; not bool

/// Result type of an arithmetic operation: bool < i32 < i64 < f16, bf16 < f32 < f64 (f16 with bf16 gives f32).
DType promote(DType a, DType b);

// Bit-exact conversions of the 16-bit formats, round to nearest even, NaN and infinities kept.
float f16_to_f32(unsigned short bits);
unsigned short f32_to_f16(float value);
float bf16_to_f32(unsigned short bits);
unsigned short f32_to_bf16(float value);

/// One element of a buffer as a double (i64 beyond 2^53 loses bits).
double load_element(DType dtype, const void* data, std::size_t index);
/// Rounds to the dtype (to nearest even; bool: value != 0; integers: truncation).
void store_element(DType dtype, void* data, std::size_t index, double value);

}  // namespace kerf
