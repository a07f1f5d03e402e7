#include "propose/synth/families/row_text.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace kerf::synth {
namespace {

using ir::ReduceOp;

/// Sums of truth values are "any", as everywhere in Kerf.
ReduceOp op_of(const RowResult& result) {
  if (result.dtype != DType::boolean) return result.op;
  if (result.op == ReduceOp::sum || result.op == ReduceOp::max) return ReduceOp::any;
  if (result.op == ReduceOp::prod || result.op == ReduceOp::min) return ReduceOp::all;
  return result.op;
}

constexpr std::string_view kAll = R"(KERF_FN {T} $all_{k}({T} a, KERF_LOCAL {T}* s, int lane, int threads) {{
#if KERF_WARP > 1
  KERF_UNROLL
  for (int m = KERF_WARP / 2; m > 0; m >>= 1) a = $join_{k}(a, KERF_SHUFFLE_XOR(a, m));
  if (threads > KERF_WARP) {{
    if (lane % KERF_WARP == 0) s[lane / KERF_WARP] = a;
    KERF_BARRIER();
    a = lane % KERF_WARP < threads / KERF_WARP ? s[lane % KERF_WARP] : {identity};
    KERF_UNROLL
    for (int m = KERF_WARP / 2; m > 0; m >>= 1) a = $join_{k}(a, KERF_SHUFFLE_XOR(a, m));
  }}
  return a;
#else
  s[lane] = a;
  KERF_BARRIER();
  for (int m = threads / 2; m > 0; m >>= 1) {{
    if (lane < m) s[lane] = $join_{k}(s[lane], s[lane + m]);
    KERF_BARRIER();
  }}
  return s[0];
#endif
}}
)";

constexpr std::string_view kBetter = R"(KERF_FN int $better_{k}({T} b, kerf_index bi, {T} a, kerf_index ai) {{
  return bi >= 0 && (ai < 0 || b {sign} a{nan} || ((b == a{both}) && bi < ai));
}}
)";

constexpr std::string_view kAllFind =
    R"(KERF_FN kerf_index $all_{k}({T}* best, kerf_index ai, KERF_LOCAL {T}* s, KERF_LOCAL kerf_index* si, int lane, int threads) {{
  {T} a = *best;
#if KERF_WARP > 1
  KERF_UNROLL
  for (int m = KERF_WARP / 2; m > 0; m >>= 1) {{
    const {T} b = KERF_SHUFFLE_XOR(a, m);
    const kerf_index bi = KERF_SHUFFLE_XOR(ai, m);
    if ($better_{k}(b, bi, a, ai)) a = b, ai = bi;
  }}
  if (threads > KERF_WARP) {{
    if (lane % KERF_WARP == 0) s[lane / KERF_WARP] = a, si[lane / KERF_WARP] = ai;
    KERF_BARRIER();
    ai = -1;
    if (lane % KERF_WARP < threads / KERF_WARP) a = s[lane % KERF_WARP], ai = si[lane % KERF_WARP];
    KERF_UNROLL
    for (int m = KERF_WARP / 2; m > 0; m >>= 1) {{
      const {T} b = KERF_SHUFFLE_XOR(a, m);
      const kerf_index bi = KERF_SHUFFLE_XOR(ai, m);
      if ($better_{k}(b, bi, a, ai)) a = b, ai = bi;
    }}
  }}
  *best = a;
  return ai;
#else
  s[lane] = a, si[lane] = ai;
  KERF_BARRIER();
  for (int m = threads / 2; m > 0; m >>= 1) {{
    if (lane < m && $better_{k}(s[lane + m], si[lane + m], s[lane], si[lane])) s[lane] = s[lane + m], si[lane] = si[lane + m];
    KERF_BARRIER();
  }}
  *best = s[0];
  return si[0];
#endif
}}
)";

constexpr std::string_view kColumnAll = R"(KERF_FN {T} $all_{k}({T} a, KERF_LOCAL {T}* s, int lane, int threads) {{
  if (threads == 1) return a;
  s[lane * $X] = a;
  KERF_BARRIER();
  for (int m = threads / 2; m > 0; m >>= 1) {{
    if (lane < m) s[lane * $X] = $join_{k}(s[lane * $X], s[(lane + m) * $X]);
    KERF_BARRIER();
  }}
  return s[0];
}}
)";

constexpr std::string_view kColumnAllFind =
    R"(KERF_FN kerf_index $all_{k}({T}* best, kerf_index ai, KERF_LOCAL {T}* s, KERF_LOCAL kerf_index* si, int lane, int threads) {{
  if (threads == 1) return ai;
  s[lane * $X] = *best, si[lane * $X] = ai;
  KERF_BARRIER();
  for (int m = threads / 2; m > 0; m >>= 1) {{
    const int here = lane * $X, there = (lane + m) * $X;
    if (lane < m && $better_{k}(s[there], si[there], s[here], si[here])) s[here] = s[there], si[here] = si[there];
    KERF_BARRIER();
  }}
  *best = s[0];
  return si[0];
}}
)";

/// Statements that take the term of one column into the state `a`, `ai`.
std::string take(const RowResult& result, std::size_t k, const std::string& a, const std::string& term) {
  const ReduceOp op = op_of(result);
  if (op == ReduceOp::any || op == ReduceOp::all) return fmt::format("{0} = $join_{1}({0}, ({2}) != 0);\n", a, k, term);
  if (!finds_index(result)) return fmt::format("{0} = $join_{1}({0}, ({2})({3}));\n", a, k, state_type(result), term);
  const std::string sign = result.op == ReduceOp::argmax ? ">" : "<";
  const std::string nan = is_float(result.term_dtype) ? fmt::format(" || (kerf_t != kerf_t && {0} == {0})", a) : "";
  return fmt::format("{{\n  const {} kerf_t = {};\n  if (kerf_t {} {}{}) {} = kerf_t, {}i = kerf_col;\n}}\n",
                     result.term_type, term, sign, a, nan, a, a);
}

std::string declare_state(const RowResult& result, const std::string& a, const HookWriter& hooks) {
  std::string text = fmt::format("{} {} = {};\n", state_type(result), a, identity_text(result, hooks));
  if (finds_index(result)) text += fmt::format("kerf_index {}i = -1;\n", a);
  return text;
}

/// The result from what each thread has.
std::string gather_threads(const RowResult& result, std::size_t k) {
  if (result.pair != Pair::none)
    return fmt::format("$all_{0}(&kerf_a{0}, &kerf_a{0}m, &kerf_a{0}n, kerf_m{0}, lane, THREADS);\n", k) +
           conclude_pair(result, k);
  if (!finds_index(result))
    return fmt::format("const {0} kerf_s{1} = $all_{1}(kerf_a{1}, kerf_m{1}, lane, THREADS);\n", result.type, k);
  return fmt::format(
      "const kerf_index kerf_i{1} = $all_{1}(&kerf_a{1}, kerf_a{1}i, kerf_m{1}, kerf_m{1}i, lane, THREADS);\n"
      "const {0} kerf_s{1} = kerf_i{1} < 0 ? 0 : ({0})kerf_i{1};\n",
      result.type, k);
}

std::string columns(const PassCode& pass, const std::string& body) {
  return fmt::format("{}KERF_UNROLL\nfor (int v = 0; v < V; ++v) {{\n  const kerf_index kerf_col = base + v;\n{}}}\n",
                     pass.reads, indent(pass.values + body + pass.saves, 2));
}

/// Finishes and stores V columns of the root from `base` on; `store4` stores whole vectors.
std::string finish_columns(const PassCode& pass, const RowProgram& program, const Group& group, const std::string& put,
                           const std::string& store4, HookWriter& hooks) {
  const codegen::Buffer& out = hooks.plan().buffers[static_cast<std::size_t>(group.buffer)];
  const std::string type = hooks.type_name(group.root);
  std::string text = fmt::format("{} y[V];\n", type) + columns(pass, fmt::format("y[v] = {};\n", pass.term));
  const std::string each =
      fmt::format("KERF_UNROLL for (int v = 0; v < V; ++v) ${}($args, kerf_row, base + v, y[v]);\n", put);
  if (out.dtype != DType::f32 || type != "float" || !program.fast_columns) return text + each;
  return text + fmt::format(R"(if (V % 4 == 0) {{
  const kerf_index kerf_col = base, kerf_at = {};
  KERF_UNROLL
  for (int v = 0; v < V; v += 4)
    {}({} + kerf_at + v, kerf_make4(y[v], y[(v + 1) % V], y[(v + 2) % V], y[(v + 3) % V]));
}} else {{
  {}}}
)",
                            root_address(program, group, hooks), store4, out.parameter, each);
}

}  // namespace

std::string indent(const std::string& text, int spaces) {
  std::string result;
  for (const std::string& line : split(text, '\n'))
    if (!line.empty())
      result += (line.starts_with('#') ? "" : std::string(static_cast<std::size_t>(spaces), ' ')) + line + "\n";
  return result;
}

std::string shared_arrays(const RowCode& code, const std::string& count) {
  std::string text;
  for (std::size_t k = 0; k < code.results.size(); ++k) {
    const RowResult& result = code.results[k];
    text += fmt::format("  KERF_SHARED {} kerf_m{}[{}{}];\n", state_type(result), k,
                        result.pair != Pair::none ? "3 * " : "", count);
    if (finds_index(result)) text += fmt::format("  KERF_SHARED kerf_index kerf_m{}i[{}];\n", k, count);
  }
  return text;
}

std::string join_text(const RowResult& result) {
  const bool real = is_float(result.dtype);
  switch (op_of(result)) {
    case ReduceOp::sum: return "a + b";
    case ReduceOp::prod: return "a * b";
    case ReduceOp::max: return real ? "kerf_max_nan(a, b)" : "kerf_max(a, b)";
    case ReduceOp::min: return real ? "kerf_min_nan(a, b)" : "kerf_min(a, b)";
    case ReduceOp::any: return "(a != 0) | (b != 0)";
    case ReduceOp::all: return "(a != 0) & (b != 0)";
    default: return "";
  }
}

bool finds_index(const RowResult& result) { return result.op == ReduceOp::argmax || result.op == ReduceOp::argmin; }

std::string state_type(const RowResult& result) { return finds_index(result) ? result.term_type : result.type; }

std::string identity_text(const RowResult& result, const HookWriter& hooks) {
  const ReduceOp op = op_of(result);
  const DType type = finds_index(result) ? result.term_dtype : result.dtype;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::any: return "0";
    case ReduceOp::prod:
    case ReduceOp::all: return "1";
    default: break;
  }
  const bool lowest = op == ReduceOp::max || op == ReduceOp::argmax;
  if (type == DType::boolean) return lowest ? "(-1)" : "2";
  if (is_float(type)) return lowest ? "(-KERF_INFINITY)" : "KERF_INFINITY";
  const auto suffix = hooks.dialect().i64_suffix;
  return lowest ? fmt::format("(-9223372036854775807{} - 1)", suffix) : fmt::format("9223372036854775807{}", suffix);
}

namespace {

std::string functions_of(const RowCode& code, const HookWriter& hooks, std::string_view all,
                         std::string_view all_find) {
  std::string text;
  for (std::size_t k = 0; k < code.results.size(); ++k) {
    const RowResult& result = code.results[k];
    const std::string type = state_type(result);
    using fmt::arg;
    if (result.pair != Pair::none) {
      text += pair_functions(result, k, hooks, !all.empty());
    } else if (finds_index(result)) {
      const bool real = is_float(result.term_dtype);
      text += fmt::format(kBetter, arg("k", k), arg("T", type), arg("sign", result.op == ReduceOp::argmax ? ">" : "<"),
                          arg("nan", real ? " || (b != b && a == a)" : ""),
                          arg("both", real ? " || (b != b && a != a)" : ""));
      text += fmt::format(fmt::runtime(all_find), arg("k", k), arg("T", type));
    } else {
      text += fmt::format("KERF_FN {0} $join_{1}({0} a, {0} b) {{ return {2}; }}\n", type, k, join_text(result));
      text +=
          fmt::format(fmt::runtime(all), arg("k", k), arg("T", type), arg("identity", identity_text(result, hooks)));
    }
  }
  return text;
}

}  // namespace

std::string join_functions(const RowCode& code, const HookWriter& hooks, bool gpu) {
  return functions_of(code, hooks, gpu ? kAll : "", gpu ? kAllFind : "");
}

std::string column_join_functions(const RowCode& code, const HookWriter& hooks) {
  return functions_of(code, hooks, kColumnAll, kColumnAllFind);
}

void set_keeping_passes(TemplateValues& values, const RowCode& code, const RowProgram& program, const Group& group,
                        HookWriter& hooks) {
  std::string passes = code.before;
  for (std::size_t k = 0; k < code.results.size(); ++k) {
    const RowResult& result = code.results[k];
    const std::string a = fmt::format("kerf_a{}", k);
    passes += declare_state(result, a, hooks);
    passes += fmt::format(R"($each
for (int i = 0; i < PER; ++i) {{
  const kerf_index base = ((kerf_index)i * THREADS + lane) * V;
  if (FULL || base < end) {{
{}  }}
}}
)",
                          indent(columns(code.passes[k], take(result, k, a, code.passes[k].term)), 4));
    passes += gather_threads(result, k) + code.passes[k].scalars;
  }
  values.text["PASSES"] = indent(passes, 2);
  const PassCode& last = code.passes.back();
  if (program.per_element)
    values.text["FINISH"] = fmt::format(R"(  $each
  for (int i = 0; i < PER; ++i) {{
    const kerf_index base = ((kerf_index)i * THREADS + lane) * V;
    if (FULL || base < end) {{
{}    }}
  }})",
                                        indent(finish_columns(last, program, group, "k_put", "kerf_store4", hooks), 6));
  else
    values.text["FINISH"] = fmt::format("  if (lane == 0 && inside) $k_put($args, kerf_row, {});", last.term);
  std::string registers, shared;
  for (std::size_t s = 0; s < code.slot_types.size(); ++s) {
    registers += fmt::format("  {} kerf_k{}[PER * V];\n", code.slot_types[s], s);
    shared += fmt::format("  KERF_SHARED {} kerf_k{}[$COLS];\n", code.slot_types[s], s);
  }
  values.text["SLOTS_IN_REGISTERS"] = registers;
  values.text["SLOTS_IN_SHARED"] = shared;
}

namespace {

/// A thread's share of the columns from `begin` to `end`. Long sums are kept in pieces, so that their error does not
/// grow with the length.
std::string value_range(const RowResult& result, std::size_t k, const PassCode& pass, const HookWriter& hooks) {
  const std::string a = fmt::format("kerf_a{}", k), part = finds_index(result) ? a : fmt::format("kerf_p{}", k);
  std::string text =
      declare_state(result, a, hooks) +
      R"(for (kerf_index start = begin + (kerf_index)lane * V; start < end; start += (kerf_index)THREADS * V * 32) {
  const kerf_index stop = start + (kerf_index)THREADS * V * 32 < end ? start + (kerf_index)THREADS * V * 32 : end;
)";
  if (!finds_index(result)) text += indent(declare_state(result, part, hooks), 2);
  text += fmt::format(
      "  KERF_UNROLL_BY($depth)\n  for (kerf_index base = start; base < stop; base += THREADS * V) {{\n{}  }}\n",
      indent(columns(pass, take(result, k, part, pass.term)), 4));
  if (!finds_index(result)) text += fmt::format("  {0} = $join_{1}({0}, {2});\n", a, k, part);
  return text + "}\n";
}

/// The first thread of a part leaves its result in scratch.
std::string save_part(const RowResult& result, std::size_t k) {
  const std::string at = "[kerf_row * $PARTS + part]";
  std::string text = fmt::format("if (lane == 0 && inside) $partial_{0}{1} = kerf_a{0}", k, at);
  if (result.pair != Pair::none)
    text += fmt::format(", $more_{0}{1} = kerf_a{0}m", k, at);
  else if (finds_index(result))
    text += fmt::format(", $where_{0}{1} = kerf_i{0}", k, at);
  else
    text = fmt::format("if (lane == 0 && inside) $partial_{0}{1} = kerf_s{0}", k, at);
  return text + ";\n";
}

/// A thread's share of the parts' results.
std::string collect_parts(const RowResult& result, std::size_t k, const HookWriter& hooks) {
  const std::string loop = "for (int p = lane; p < $PARTS; p += THREADS) ";
  if (result.pair != Pair::none)
    return declare_pair(result, k) + loop +
           fmt::format(R"({{
  const kerf_index left = $COLS - p * span, have = left < span ? left : span;
  if (have > 0) $merge_{0}(&kerf_a{0}, &kerf_a{0}m, &kerf_a{0}n, $partial_{0}[kerf_row * $PARTS + p], $more_{0}[kerf_row * $PARTS + p], ({1})have);
}}
)",
                       k, result.type);
  const std::string text = declare_state(result, fmt::format("kerf_a{}", k), hooks) + loop;
  if (!finds_index(result))
    return text + fmt::format("kerf_a{0} = $join_{0}(kerf_a{0}, $partial_{0}[kerf_row * $PARTS + p]);\n", k);
  return text + fmt::format(R"({{
  const {1} kerf_t = $partial_{0}[kerf_row * $PARTS + p];
  const kerf_index kerf_ti = $where_{0}[kerf_row * $PARTS + p];
  if ($better_{0}(kerf_t, kerf_ti, kerf_a{0}, kerf_a{0}i)) kerf_a{0} = kerf_t, kerf_a{0}i = kerf_ti;
}}
)",
                            k, result.term_type);
}

}  // namespace

void set_range_passes(TemplateValues& values, const RowCode& code, const RowProgram& program, const Group& group,
                      HookWriter& hooks) {
  std::string all = code.before, gathered = code.before;
  for (std::size_t k = 0; k < code.results.size(); ++k) {
    const RowResult& result = code.results[k];
    const std::string pass = (result.pair != Pair::none ? pair_range(result, k, code.passes[k])
                                                        : value_range(result, k, code.passes[k], hooks)) +
                             gather_threads(result, k);
    all += pass + code.passes[k].scalars;
    values.text[fmt::format("PARTIAL_{}", k)] = indent(gathered + pass + save_part(result, k), 2);
    gathered += collect_parts(result, k, hooks) + gather_threads(result, k) + code.passes[k].scalars;
  }
  values.text["RANGE_PASSES"] = indent(all, 2);
  values.text["GATHER"] = indent(gathered, 2);
  const PassCode& last = code.passes.back();
  if (program.per_element)
    // Backwards: what the pass before read last may still be in the cache.
    values.text["RANGE_FINISH"] =
        fmt::format(R"(  const kerf_index first = begin + (kerf_index)lane * V;
  KERF_UNROLL_BY($depth)
  for (kerf_index base = first + ((end - first + THREADS * V - 1) / (THREADS * V) - 1) * (THREADS * V); base >= first; base -= THREADS * V) {{
{}  }})",
                    indent(finish_columns(last, program, group, "r_put", "kerf_store4_once", hooks), 4));
  else
    values.text["RANGE_FINISH"] = fmt::format("  if (lane == 0 && inside) $r_put($args, kerf_row, {});", last.term);
}

void set_split_values(TemplateValues& values, const RowCode& code) {
  constexpr std::size_t kMostPasses = 3;  // the manifests have variants for 1, 2 and 3
  for (std::size_t k = 0; k < kMostPasses; ++k) {
    const std::string number = std::to_string(k);
    const RowResult* result = k < code.results.size() ? &code.results[k] : nullptr;
    const bool finds = result != nullptr && finds_index(*result);
    const DType type = result == nullptr ? DType::f32 : finds ? result->term_dtype : result->dtype;
    values.text["PASSES_" + std::to_string(k + 1)] = code.results.size() == k + 1 ? "1" : "0";
    values.text["HAS_PASS_" + number] = result != nullptr ? "1" : "0";
    values.text.try_emplace("PARTIAL_" + number, "");
    values.text["TYPE_" + number] = type == DType::boolean ? "i32" : std::string(dtype_name(type));
    values.extents["WHERE_" + number] = finds ? values.extents["ROWS"] : "1";
    values.extents["MORE_" + number] = result != nullptr && result->pair != Pair::none ? values.extents["ROWS"] : "1";
  }
}

}  // namespace kerf::synth
