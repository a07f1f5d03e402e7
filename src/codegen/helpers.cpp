#include "codegen/helpers.hpp"

#include <fmt/format.h>

#include <string_view>

namespace kerf::codegen {
namespace {

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// In these texts FN stands for the function prefix, PTR for the pointer prefix, INT for the 64-bit type.
constexpr std::string_view kBf16 =
    R"(FN float kerf_load_bf16(PTRconst unsigned short* p, kerf_index i) { return kerf_bits_float((unsigned)p[i] << 16); }
FN void kerf_store_bf16(PTRunsigned short* p, kerf_index i, float x) {
  const unsigned b = kerf_float_bits(x);
  p[i] = (unsigned short)(x != x ? (b >> 16) | 0x40u : (b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
}
)";
constexpr std::string_view kWrap =
    R"(FN kerf_index kerf_wrap(kerf_index i, kerf_index n) { const kerf_index r = i % n; return r < 0 ? r + n : r; }
)";
constexpr std::string_view kIntDiv = R"(FN INT kerf_int_div(INT a, INT b) { return b == 0 ? 0 : b == -1 ? -a : a / b; }
)";
constexpr std::string_view kIntFloorDiv = R"(FN INT kerf_int_floor_div(INT a, INT b) {
  if (b == 0) return 0;
  if (b == -1) return -a;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
)";
constexpr std::string_view kIntRemainder = R"(FN INT kerf_int_remainder(INT a, INT b) {
  if (b == 0 || b == -1) return 0;
  const INT r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
)";
constexpr std::string_view kIntPow = R"(FN INT kerf_int_pow(INT a, INT b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  INT r = 1;
  for (; b > 0; b >>= 1) {
    if (b & 1) r *= a;
    a *= a;
  }
  return r;
}
)";
// REAL is the compute type, FMOD its fmod, COPYSIGN its copysign.
constexpr std::string_view kRealRemainder = R"(FN REAL kerf_real_remainder(REAL a, REAL b) {
  const REAL r = FMOD(a, b);
  if (r == 0) return COPYSIGN(r, b);
  return (r < 0) != (b < 0) ? r + b : r;
}
)";
// To nearest even in the given number of mantissa bits; infinities and NaNs stay.
constexpr std::string_view kRoundOperand = R"(FN REAL kerf_round_operand(REAL x) {
  const BITS b = TO_BITS(x);
  if ((b & EXPONENT) == EXPONENT) return x;
  return FROM_BITS((b + (((BITS)1 << (DROP - 1)) - 1) + ((b >> DROP) & 1)) & ~(((BITS)1 << DROP) - 1));
}
)";

std::string round_operand(const DialectTraits& dialect, const NaiveOptions& options) {
  const bool single = options.compute == DType::f32;
  const int kept = options.operand_rounding == OperandRounding::bf16 ? 7 : 10;
  std::string text(kRoundOperand);
  text = replace_all(text, "TO_BITS", single ? "kerf_float_bits" : "kerf_double_bits");
  text = replace_all(text, "FROM_BITS", single ? "kerf_bits_float" : "kerf_bits_double");
  text = replace_all(text, "EXPONENT", single ? "0x7f800000u" : "((BITS)0x7ff << 52)");
  text = replace_all(text, "BITS", single ? "unsigned" : fmt::format("unsigned {}", dialect.i64));
  text = replace_all(text, "DROP", std::to_string((single ? 23 : 52) - kept));
  return text;
}

}  // namespace

std::string helper_definitions(const std::set<std::string>& used, const DialectTraits& dialect,
                               const NaiveOptions& options) {
  std::string text;
  if (used.contains("bf16") || used.contains("f16") || used.contains("round_operand")) text += dialect.bit_helpers;
  if (used.contains("f16")) text += dialect.f16_helpers;
  if (used.contains("bf16")) text += kBf16;
  if (used.contains("wrap")) text += kWrap;
  if (used.contains("int_div")) text += kIntDiv;
  if (used.contains("int_floor_div")) text += kIntFloorDiv;
  if (used.contains("int_remainder")) text += kIntRemainder;
  if (used.contains("int_pow")) text += kIntPow;
  if (used.contains("real_remainder")) text += kRealRemainder;
  if (used.contains("round_operand")) text += round_operand(dialect, options);
  text = replace_all(text, "FMOD", math_function(dialect, "fmod", options.compute));
  text = replace_all(text, "COPYSIGN", math_function(dialect, "copysign", options.compute));
  text = replace_all(text, "REAL", memory_type(dialect, options.compute));
  text = replace_all(text, "PTR", dialect.pointer_prefix);
  text = replace_all(text, "INT", dialect.i64);
  return replace_all(text, "FN", dialect.function_prefix);
}

}  // namespace kerf::codegen
