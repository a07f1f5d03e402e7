#include "ir/expression/hints.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "ir/expression/functions.hpp"

namespace kerf::ir {
namespace {

struct Synonym {
  std::string_view word, dtype;
};
constexpr Synonym kDtypeSynonyms[] = {{"float16", "f16"},   {"half", "f16"},    {"fp16", "f16"},   {"bfloat16", "bf16"},
                                      {"float32", "f32"},   {"float", "f32"},   {"single", "f32"}, {"fp32", "f32"},
                                      {"float64", "f64"},   {"double", "f64"},  {"fp64", "f64"},   {"int32", "i32"},
                                      {"int", "i32"},       {"int64", "i64"},   {"long", "i64"},   {"boolean", "bool"},
                                      {"float16_t", "f16"}, {"int32_t", "i32"}, {"int64_t", "i64"}};

/// "" when it is no other name of a dtype.
std::string dtype_called(std::string_view word) {
  const auto found = std::find_if(std::begin(kDtypeSynonyms), std::end(kDtypeSynonyms),
                                  [&](const Synonym& one) { return one.word == word; });
  return found == std::end(kDtypeSynonyms) ? "" : std::string(found->dtype);
}

}  // namespace

std::string dtype_hint(const std::string& word) {
  const std::vector<std::string> known{"f32", "f16", "bf16", "f64", "i32", "i64", "bool"};
  const std::string meant = dtype_called(word);
  return (meant.empty() ? did_you_mean(word, known) : " (did you mean '" + meant + "'?)") +
         "; choose one of: " + join(known, ", ");
}

std::string function_hint(const std::string& name) {
  if (name == "sort") return "; topk(x, k) has the k largest values in order";
  const std::string dtype = dtype_called(name);
  return dtype.empty() ? did_you_mean(name, function_names()) : " (did you mean '" + dtype + "'?)";
}

std::string as_function(const std::string& method) {
  if (const std::string dtype = dtype_called(method); !dtype.empty()) return dtype + "(x)";
  if (method == "to" || method == "type" || method == "astype") return "cast(x, \"f16\")";
  return method + "(x, ...)";
}

std::string integer_hint(const Value& value) {
  if (value.kind == ValueKind::real || (value.kind == ValueKind::tensor && value.weak))
    return "; use // for whole-number division";
  if (value.kind == ValueKind::tensor && is_integer(value.tensor.dtype()))
    return "; take(x, index, axis) and gather(x, index, axis) read by a tensor of indices";
  return "";
}

std::string part_hint(const Value& value) {
  if (value.kind != ValueKind::list) return "";
  return value.indices ? "; write .values or .indices after it" : "; take one of its parts: [0], [1], ...";
}

}  // namespace kerf::ir
