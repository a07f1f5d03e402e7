// Elementwise operators as C expressions: the spellings of ir/map_ops.def filled in.

#include <fmt/format.h>

#include <cctype>

#include "codegen/lowering.hpp"

namespace kerf::codegen {

using ir::MapOp;

std::string Lowering::spelled(std::string_view pattern, DType type, const std::vector<std::string>& args) {
  std::string text;
  while (!pattern.empty()) {
    const std::size_t open = pattern.find('{');
    text += pattern.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = pattern.find('}', open);
    KERF_CHECK(close != std::string_view::npos, "a spelling in map_ops.def has an open brace");
    const std::string_view word = pattern.substr(open + 1, close - open - 1);
    pattern.remove_prefix(close + 1);
    if (word == "x" || word == "y") {
      text += args.at(word == "x" ? 0 : 1);
    } else if (word.starts_with('!')) {
      uses_.helpers.insert(std::string(word.substr(1)));
      text += fmt::format("kerf_{}", word.substr(1));
    } else if (std::isdigit(static_cast<unsigned char>(word.back())) != 0 &&
               std::isalpha(static_cast<unsigned char>(word.front())) == 0) {
      text += literal(dialect_, word.starts_with('-') ? -1.0 * (word[1] - '0') : word[0] - '0', type);
    } else {
      text += math_function(dialect_, word, type);
    }
  }
  return text;
}

std::string Lowering::map_expression(MapOp op, DType type, DType arg_type, const std::vector<std::string>& a) {
  const ir::MapOpFacts& facts = ir::facts_of(op);
  if (facts.gives_bool) return spelled(facts.c, arg_type, a);
  if (op == MapOp::select)
    return fmt::format("{} ? {} : {}", a[0], convert(a[1], arg_type, type), convert(a[2], arg_type, type));
  if (op == MapOp::cast) return convert(a[0], arg_type, type);
  std::vector<std::string> args;
  if (is_float(type)) {
    for (const auto& arg : a) args.push_back(convert(arg, arg_type, type));
    return real_expression(op, type, args);
  }
  for (const auto& arg : a) args.push_back(convert(arg, arg_type, DType::i64));
  const std::string text = integer_expression(op, args);
  return type == DType::boolean ? fmt::format("({}) != 0", text) : text;
}

std::string Lowering::integer_expression(MapOp op, const std::vector<std::string>& a) {
  if (const auto pattern = ir::facts_of(op).c_integer; !pattern.empty()) return spelled(pattern, DType::i64, a);
  std::vector<std::string> reals;  // a function of reals: there and back
  for (const auto& arg : a) reals.push_back(convert(arg, DType::i64, options_.compute));
  return fmt::format("({})({})", dialect_.i64, real_expression(op, options_.compute, reals));
}

std::string Lowering::real_expression(MapOp op, DType type, const std::vector<std::string>& a) {
  const ir::MapOpFacts& facts = ir::facts_of(op);
  if (!facts.native.empty() && has_word(dialect_.native_functions, facts.native))
    return spelled(fmt::format("{{{}}}({{x}})", facts.native), type, a);
  return spelled(facts.c, type, a);
}

}  // namespace kerf::codegen
