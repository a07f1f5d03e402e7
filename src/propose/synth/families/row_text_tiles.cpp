// Row programs in C++ and, for devices that are processors, in OpenCL C when neighbours in memory are neighbours along
// the rows: many rows at once, one per lane.

#include <fmt/format.h>

#include "propose/synth/families/row_text.hpp"

namespace kerf::synth {
namespace {

std::string over_rows(const std::string& statements) {
  return "KERF_SIMD\nfor (int l = 0; l < n; ++l) {\n  const kerf_index kerf_in = from + l;\n" + indent(statements, 2) +
         "}\n";
}

std::string truth_or_value(const PassCode& pass, const RowResult& result) {
  const bool truth = result.op == ir::ReduceOp::any || result.op == ir::ReduceOp::all || result.dtype == DType::boolean;
  return truth ? fmt::format("({}) != 0", pass.term) : fmt::format("({})({})", result.type, pass.term);
}

std::string find_pass(const PassCode& pass, const RowResult& result, std::size_t k, const std::string& identity) {
  const bool largest = result.op == ir::ReduceOp::argmax;
  const std::string best = fmt::format("kerf_best{}", k);
  const std::string nan =
      is_float(result.term_dtype) ? fmt::format(" | ((kerf_t != kerf_t) & ({0}[l] == {0}[l]))", best) : "";
  const std::string body = fmt::format(R"({0}const {1} kerf_t = {2};
const bool better = (kerf_t {3} {4}[l]){5};
{4}[l] = better ? kerf_t : {4}[l];
kerf_s{6}[l] = better ? kerf_col : kerf_s{6}[l];
)",
                                       pass.values, result.term_type, pass.term, largest ? ">" : "<", best, nan, k);
  return fmt::format("{} {}[W];\nfor (int l = 0; l < n; ++l) {}[l] = {}, kerf_s{}[l] = 0;\n", result.term_type, best,
                     best, identity, k) +
         "for (kerf_index kerf_col = 0; kerf_col < $COLS; ++kerf_col) {\n" + indent(over_rows(body), 2) + "}\n";
}

/// Sums are kept in pieces of 128 terms, so that their error does not grow with the number of columns.
std::string value_pass(const PassCode& pass, const RowResult& result, std::size_t k, const std::string& identity) {
  const std::string body =
      fmt::format("{}kerf_p{}[l] = $join_{}(kerf_p{}[l], {});\n", pass.values, k, k, k, truth_or_value(pass, result));
  return fmt::format("{0} kerf_p{1}[W];\nfor (int l = 0; l < n; ++l) kerf_s{1}[l] = {2};\n", result.type, k, identity) +
         "for (kerf_index start = 0; start < $COLS; start += 128) {\n" +
         fmt::format("  for (int l = 0; l < n; ++l) kerf_p{}[l] = {};\n", k, identity) +
         "  const kerf_index stop = start + 128 < $COLS ? start + 128 : $COLS;\n"
         "  for (kerf_index kerf_col = start; kerf_col < stop; ++kerf_col) {\n" +
         indent(over_rows(body), 4) + "  }\n" +
         fmt::format("  for (int l = 0; l < n; ++l) kerf_s{0}[l] = $join_{0}(kerf_s{0}[l], kerf_p{0}[l]);\n", k) +
         "}\n";
}

}  // namespace

void set_tile_passes(TemplateValues& values, const RowCode& code, const RowProgram& program, const HookWriter& hooks) {
  std::string text;
  for (std::size_t k = 0; k < code.results.size(); ++k)
    text += fmt::format("{} {}[W];\n", code.results[k].type, code.results[k].name);
  for (std::size_t s = 0; s < code.scalar_names.size(); ++s)
    text += fmt::format("{} {}[W];\n", code.scalar_types[s], code.scalar_names[s]);
  if (!code.before.empty()) text += over_rows(code.before);
  for (std::size_t k = 0; k < code.results.size(); ++k) {
    const RowResult& result = code.results[k];
    const std::string identity = identity_text(result, hooks);
    text += finds_index(result) ? find_pass(code.passes[k], result, k, identity)
                                : value_pass(code.passes[k], result, k, identity);
    if (!code.passes[k].scalars.empty()) text += over_rows(code.passes[k].scalars);
  }
  const PassCode& last = code.passes.back();
  if (program.per_element)
    text +=
        "for (kerf_index kerf_col = 0; kerf_col < $COLS; ++kerf_col) {\n" +
        indent(over_rows(fmt::format("{}$t_put($args, kerf_out, kerf_in, kerf_col, {});\n", last.values, last.term)),
               2) +
        "}\n";
  else
    text += over_rows(fmt::format("$t_put($args, kerf_out, kerf_in, {});\n", last.term));
  values.text["TILE_BODY"] = indent(text, 2);
}

}  // namespace kerf::synth
