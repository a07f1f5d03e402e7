#include "codegen/dialect.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "codegen/dialects/dialects.hpp"

namespace kerf::codegen {
std::vector<std::string> dialects::language_names() {
  std::vector<std::string> names;
  for (const DialectTraits* dialect : kAll) names.emplace_back(dialect->language);
  return names;
}

bool has_word(std::string_view words, std::string_view word) {
  return words.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

std::string memory_type(const DialectTraits& dialect, DType dtype) {
  switch (dtype) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::f16:
    case DType::bf16: return "unsigned short";
    case DType::i32: return "int";
    case DType::i64: return std::string(dialect.i64);
    case DType::boolean: return "unsigned char";
  }
  return {};
}

std::string math_function(const DialectTraits& dialect, std::string_view name, DType type) {
  if (type == DType::f32 && has_word(dialect.fast_functions, name)) return fmt::format("kerf_fast_{}", name);
  return fmt::format("{}{}{}", dialect.math_namespace, name, dialect.math_suffix && type == DType::f32 ? "f" : "");
}

std::string literal(const DialectTraits& dialect, double value, DType type) {
  if (type == DType::i64) {
    const auto whole = static_cast<std::int64_t>(value);
    if (whole == INT64_MIN) return fmt::format("(-{}{} - 1)", INT64_MAX, dialect.i64_suffix);
    return whole < 0 ? fmt::format("({}{})", whole, dialect.i64_suffix)
                     : fmt::format("{}{}", whole, dialect.i64_suffix);
  }
  const bool single = type == DType::f32;
  if (single) value = static_cast<float>(value);
  if (std::isnan(value)) return std::string(dialect.nan[single ? 0 : 1]);
  if (std::isinf(value)) {
    const auto infinity = dialect.infinity[single ? 0 : 1];
    return value < 0 ? fmt::format("(-{})", infinity) : std::string(infinity);
  }
  std::string digits = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  if (single) digits += "f";
  return std::signbit(value) ? "(" + digits + ")" : digits;
}

}  // namespace kerf::codegen
