#include "ir/expression/expression.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "ir/expression/evaluator.hpp"
#include "ir/expression/hints.hpp"

namespace kerf::ir {
namespace {

/// Shape symbols of the inputs and of the shape sets.
std::vector<std::string> symbols_in_scope(const std::vector<TensorType>& inputs,
                                          const std::vector<Bindings>& shape_sets) {
  std::vector<std::string> symbols;
  for (const auto& input : inputs)
    for (const auto& extent : input.shape) extent.collect_symbols(symbols);
  for (const auto& bindings : shape_sets)
    for (const auto& [name, value] : bindings)
      if (std::find(symbols.begin(), symbols.end(), name) == symbols.end()) symbols.push_back(name);
  return symbols;
}

Status check_inputs(const std::vector<TensorType>& inputs, const std::vector<std::string>& symbols) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = inputs[i].name;
    if (!is_identifier(name)) return fail(Errc::invalid_input, "the input name '" + name + "' is not an identifier");
    for (std::size_t j = 0; j < i; ++j)
      if (inputs[j].name == name) return fail(Errc::invalid_input, "two inputs are called '" + name + "'");
    if (std::find(symbols.begin(), symbols.end(), name) != symbols.end())
      return fail(Errc::invalid_input, "'" + name + "' is both an input and a shape symbol");
  }
  return {};
}

}  // namespace

Result<Graph> parse_expression(std::string_view text, const std::vector<TensorType>& inputs,
                               const std::vector<std::string>& outputs, const std::vector<Bindings>& shape_sets) {
  const Source source(text);
  const std::vector<std::string> symbols = symbols_in_scope(inputs, shape_sets);
  KERF_TRY_VOID(check_inputs(inputs, symbols));
  KERF_TRY(const Program program, parse_program(source));
  Builder builder(shape_sets);
  Evaluator evaluator(source, program, builder);
  for (const auto& symbol : symbols) evaluator.define_symbol(symbol);
  for (const auto& input : inputs)
    evaluator.define_input(input.name, builder.input(input.name, input.dtype, input.shape));
  KERF_TRY_VOID(evaluator.run());
  std::vector<std::string> names = outputs;
  if (names.empty()) names.push_back(program.statements.back().name);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<long>(i), names[i]) !=
        names.begin() + static_cast<long>(i))
      return fail(Errc::invalid_input, "the output '" + names[i] + "' is named twice");
    KERF_TRY(const NodeId node, evaluator.output(names[i]));
    builder.output(names[i], node);
  }
  return builder.take();
}

Result<TensorType> parse_tensor_type(std::string_view name, std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return fail(Errc::invalid_input, "'" + std::string(name) + "' has the type '" + std::string(text) + "': " + why +
                                         "; write f32[rows, cols]");
  };
  const std::string_view trimmed = trim(text);
  const std::size_t open = trimmed.find('[');
  if (open == std::string_view::npos || trimmed.back() != ']') return refuse("the shape in brackets is missing");
  const std::string word(trim(trimmed.substr(0, open)));
  const auto dtype = dtype_from_name(word);
  if (!dtype)
    return fail(Errc::invalid_input, "'" + std::string(name) + "' has the type '" + std::string(text) +
                                         "': unknown dtype '" + word + "'" + dtype_hint(word));
  TensorType type{std::string(name), *dtype, {}};
  const std::string_view inner = trim(trimmed.substr(open + 1, trimmed.size() - open - 2));
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; !inner.empty() && at <= inner.size(); ++at) {
    const char c = at < inner.size() ? inner[at] : ',';
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (at < inner.size() && (c != ',' || depth > 0)) continue;
    auto extent = parse_dim(inner.substr(begin, at - begin));
    if (!extent) return refuse(extent.error().message);
    if (extent->is_constant() && extent->constant() < 0) return refuse("an extent is negative");
    type.shape.push_back(std::move(*extent));
    begin = at + 1;
  }
  return type;
}

}  // namespace kerf::ir
