// Row programs in C++ and, for devices that are processors, in OpenCL C: a function per pass over a range of columns of
// one row, with as many partial results as vectors have lanes.

#include <fmt/format.h>

#include "base/text.hpp"
#include "propose/synth/families/row_text.hpp"

namespace kerf::synth {
namespace {

/// Values of the row that are known before a pass, as parameters and as arguments.
struct Known {
  std::string parameters, arguments;
};

Known known_before(const RowCode& code, std::size_t pass) {
  Known known;
  const auto add = [&](const std::string& type, const std::string& name) {
    known.parameters += fmt::format(", {} {}", type, name);
    known.arguments += ", " + name;
  };
  for (std::size_t k = 0; k < pass && k < code.results.size(); ++k) {
    add(code.results[k].type, code.results[k].name);
    if (code.results[k].pair != Pair::none) add(code.results[k].type, code.results[k].name + "m");
  }
  for (std::size_t s = 0; s < code.scalar_names.size(); ++s)
    if (code.scalar_stage[s] < static_cast<int>(pass)) add(code.scalar_types[s], code.scalar_names[s]);
  for (std::size_t s = 0; s < code.slot_types.size(); ++s)
    add(code.slot_types[s] + "* KERF_RESTRICT", fmt::format("kerf_k{}", s));
  return known;
}

constexpr std::string_view kPass =
    R"(static {T} $pass_{k}{x}($params, kerf_index kerf_row, kerf_index begin, kerf_index end{known}) {{
  enum {{ W = $LANES }};
  {T} total = {identity};
  for (kerf_index kerf_major = begin / $RUN; kerf_major * $RUN < end; ++kerf_major)
  for (kerf_index start = kerf_max(begin, kerf_major * $RUN), limit = kerf_min(end, (kerf_major + 1) * $RUN); start < limit; start += W * 256) {{
    const kerf_index stop = start + W * 256 < limit ? start + W * 256 : limit;
    {T} lanes[W];
    for (int l = 0; l < W; ++l) lanes[l] = {identity};
    kerf_index c = start;
    for (; c + W <= stop; c += W) {{
KERF_SIMD
      for (int l = 0; l < W; ++l) {{
        const kerf_index kerf_col = c + l;
{body}      }}
    }}
    const int rest = (int)(stop - c);
KERF_SIMD
    for (int l = 0; l < rest; ++l) {{
      const kerf_index kerf_col = c + l;
{body}    }}
    for (int h = W / 2; h > 0; h /= 2)
      for (int l = 0; l < h; ++l) lanes[l] = $join_{k}(lanes[l], lanes[l + h]);
    total = $join_{k}(total, lanes[0]);
  }}
  return total;
}}
)";

/// Each lane looks for itself; positions are relative to `start`, so that they are as wide as the values.
constexpr std::string_view kFind =
    R"(static void $pass_{k}{x}($params, kerf_index kerf_row, kerf_index begin, kerf_index end{known}, {T}* best, kerf_index* where) {{
  enum {{ W = $LANES }};
  {T} found = {identity};
  kerf_index place = -1;
  for (kerf_index kerf_major = begin / $RUN; kerf_major * $RUN < end; ++kerf_major)
  for (kerf_index start = kerf_max(begin, kerf_major * $RUN), limit = kerf_min(end, (kerf_major + 1) * $RUN); start < limit; start += W * 4096) {{
    const kerf_index stop = start + W * 4096 < limit ? start + W * 4096 : limit;
    {T} lanes[W];
    int places[W];
    for (int l = 0; l < W; ++l) lanes[l] = {identity}, places[l] = -1;
    kerf_index c = start;
    for (; c + W <= stop; c += W) {{
      const int from = (int)(c - start);
KERF_SIMD
      for (int l = 0; l < W; ++l) {{
        const kerf_index kerf_col = c + l;
{body}      }}
    }}
    const int rest = (int)(stop - c), from = (int)(c - start);
KERF_SIMD
    for (int l = 0; l < rest; ++l) {{
      const kerf_index kerf_col = c + l;
{body}    }}
    for (int l = 0; l < W; ++l) {{
      const kerf_index at = places[l] < 0 ? -1 : start + places[l];
      if ($better_{k}(lanes[l], at, found, place)) found = lanes[l], place = at;
    }}
  }}
  *best = found, *where = place;
}}
)";

std::string find_body(const PassCode& pass, const RowResult& result) {
  const bool largest = result.op == ir::ReduceOp::argmax;
  const std::string nan = is_float(result.term_dtype) ? " | ((kerf_t != kerf_t) & (lanes[l] == lanes[l]))" : "";
  return fmt::format(R"({}const {} kerf_t = {};
const bool better = (kerf_t {} lanes[l]){};
lanes[l] = better ? kerf_t : lanes[l];
places[l] = better ? from + l : places[l];
{})",
                     pass.values, result.term_type, pass.term, largest ? ">" : "<", nan, pass.saves);
}

std::string value_body(const PassCode& pass, const RowResult& result, std::size_t k) {
  const bool truth = result.op == ir::ReduceOp::any || result.op == ir::ReduceOp::all || result.dtype == DType::boolean;
  return fmt::format("{}lanes[l] = $join_{}(lanes[l], {});\n{}", pass.values, k,
                     truth ? fmt::format("({}) != 0", pass.term) : fmt::format("({})({})", result.type, pass.term),
                     pass.saves);
}

/// Types of the variables that hold what a pass has come to, and what their names end with.
std::vector<std::pair<std::string, std::string>> state_of(const RowResult& result) {
  if (result.pair != Pair::none) return {{result.type, ""}, {result.type, "m"}, {result.type, "n"}};
  if (finds_index(result)) return {{result.term_type, ""}, {"kerf_index", "i"}};
  return {{result.type, ""}};
}

/// What the parts of a row have come to together.
std::string gather_parts(const RowResult& result, std::size_t k, const HookWriter& hooks) {
  const std::string loop = "for (kerf_index p = kerf_row * $PARTS; p < (kerf_row + 1) * $PARTS; ++p)\n  ";
  if (result.pair != Pair::none)
    return declare_pair(result, k) + loop +
           fmt::format(
               "$merge_{0}(&kerf_a{0}, &kerf_a{0}m, &kerf_a{0}n, kerf_part{0}[p], kerf_part{0}m[p], "
               "kerf_part{0}n[p]);\n",
               k);
  std::string text = fmt::format("{} kerf_a{} = {};\n", state_type(result), k, identity_text(result, hooks));
  if (!finds_index(result)) return text + loop + fmt::format("kerf_a{0} = $join_{0}(kerf_a{0}, kerf_part{0}[p]);\n", k);
  return text + fmt::format("kerf_index kerf_a{}i = -1;\n", k) + loop +
         fmt::format(
             "if ($better_{0}(kerf_part{0}[p], kerf_part{0}i[p], kerf_a{0}, kerf_a{0}i)) kerf_a{0} = kerf_part{0}[p], "
             "kerf_a{0}i = kerf_part{0}i[p];\n",
             k);
}

/// The same from the scratch of kernels that have a part of a row each.
std::string gather_scratch(const RowResult& result, std::size_t k, const HookWriter& hooks) {
  const std::string loop = "for (int p = 0; p < $PARTS; ++p) {\n  const kerf_index at = kerf_row * $PARTS + p;\n";
  if (result.pair != Pair::none)
    return declare_pair(result, k) + loop +
           fmt::format(R"(  const kerf_index left = $COLS - p * $span, have = left < $span ? left : $span;
  if (have > 0) $merge_{0}(&kerf_a{0}, &kerf_a{0}m, &kerf_a{0}n, $partial_{0}[at], $more_{0}[at], ({1})have);
}}
)",
                       k, result.type);
  const std::string text = fmt::format("{} kerf_a{} = {};\n", state_type(result), k, identity_text(result, hooks));
  if (!finds_index(result))
    return text + loop + fmt::format("  kerf_a{0} = $join_{0}(kerf_a{0}, $partial_{0}[at]);\n}}\n", k);
  return text + fmt::format("kerf_index kerf_a{}i = -1;\n", k) + loop +
         fmt::format(
             "  if ($better_{0}($partial_{0}[at], $where_{0}[at], kerf_a{0}, kerf_a{0}i)) kerf_a{0} = "
             "$partial_{0}[at], "
             "kerf_a{0}i = $where_{0}[at];\n}}\n",
             k);
}

std::string save_scratch(const RowResult& result, std::size_t k) {
  std::string text = fmt::format("$partial_{0}[job] = kerf_a{0};\n", k);
  if (result.pair != Pair::none) text += fmt::format("$more_{0}[job] = kerf_a{0}m;\n", k);
  if (finds_index(result)) text += fmt::format("$where_{0}[job] = kerf_a{0}i;\n", k);
  return text;
}

/// Calls pass k on [begin, end) and leaves its state in kerf_a<k> (and kerf_a<k>i).
std::string call_pass(const RowCode& code, std::size_t k, const std::string& suffix) {
  const RowResult& result = code.results[k];
  const std::string known = known_before(code, k).arguments;
  if (result.pair != Pair::none)
    return declare_pair(result, k) +
           fmt::format("$pass_{0}{1}($args, kerf_row, begin, end{2}, &kerf_a{0}, &kerf_a{0}m, &kerf_a{0}n);\n", k,
                       suffix, known);
  if (!finds_index(result))
    return fmt::format("const {} kerf_a{} = $pass_{}{}($args, kerf_row, begin, end{});\n", result.type, k, k, suffix,
                       known);
  return fmt::format(
      "{0} kerf_a{1};\nkerf_index kerf_a{1}i;\n$pass_{1}{2}($args, kerf_row, begin, end{3}, &kerf_a{1}, "
      "&kerf_a{1}i);\n",
      result.term_type, k, suffix, known);
}

/// The result and the values of the row that follow from the state.
std::string conclude(const RowCode& code, std::size_t k) {
  const RowResult& result = code.results[k];
  if (result.pair != Pair::none) return conclude_pair(result, k) + code.passes[k].scalars;
  const std::string value =
      finds_index(result) ? fmt::format("kerf_a{0}i < 0 ? 0 : kerf_a{0}i", k) : fmt::format("kerf_a{}", k);
  return fmt::format("const {} kerf_s{} = {};\n", result.type, k, value) + code.passes[k].scalars;
}

/// The function that finishes the columns of a range. `streamed`: where columns from kerf_col on are stored, when they
/// may pass the cache.
std::string last_pass(const PassCode& finish, const Known& known, const std::string& prefix, const std::string& suffix,
                      const std::string& streamed) {
  std::string stream, flush;
  if (!streamed.empty()) {
    stream = fmt::format(R"(    if ($STREAM) {{
      for (kerf_index from = start; from < stop; from += 1024) {{
        alignas(64) float y[1024];
        const int count = stop - from < 1024 ? (int)(stop - from) : 1024;
KERF_SIMD
        for (int i = 0; i < count; ++i) {{
          const kerf_index kerf_col = from + i;
{}          y[i] = {};
        }}
        const kerf_index kerf_col = from;
        kerf_stream({}, y, count);
      }}
      continue;
    }}
)",
                         indent(finish.values, 10), finish.term, streamed);
    flush = "  if ($STREAM) kerf_stream_end();\n";
  }
  return fmt::format(
      R"(static void $last{}($params, kerf_index kerf_row, kerf_index begin, kerf_index end{}) {{
  for (kerf_index kerf_major = begin / $RUN; kerf_major * $RUN < end; ++kerf_major) {{
    const kerf_index start = kerf_max(begin, kerf_major * $RUN), stop = kerf_min(end, (kerf_major + 1) * $RUN);
{}KERF_SIMD
    for (kerf_index kerf_col = start; kerf_col < stop; ++kerf_col) {{
{}      ${}put($args, kerf_row, kerf_col, kerf_major, {});
    }}
  }}
{}}}
)",
      suffix, known.parameters, stream, indent(finish.values, 6), prefix, finish.term, flush);
}

}  // namespace

void set_host_passes(TemplateValues& values, const RowCode& code, const RowProgram& program, const HookWriter& hooks,
                     const std::string& prefix, const std::string& suffix, const std::string& streamed) {
  using fmt::arg;
  std::string functions;
  for (std::size_t k = 0; k < code.results.size(); ++k) {
    const RowResult& result = code.results[k];
    const bool finds = finds_index(result);
    if (result.pair != Pair::none) {
      functions += host_pair(result, k, code.passes[k], suffix, known_before(code, k).parameters, hooks);
      continue;
    }
    const std::string body = finds ? find_body(code.passes[k], result) : value_body(code.passes[k], result, k);
    functions += fmt::format(fmt::runtime(finds ? kFind : kPass), arg("k", k), arg("x", suffix),
                             arg("T", state_type(result)), arg("identity", identity_text(result, hooks)),
                             arg("known", known_before(code, k).parameters), arg("body", indent(body, 8)));
  }
  const std::size_t last = code.results.size();
  const PassCode& finish = code.passes.back();
  const Known known = known_before(code, last);
  if (program.per_element) functions += last_pass(finish, known, prefix, suffix, streamed);
  const std::string end = program.per_element
                              ? fmt::format("$last{}($args, kerf_row, begin, end{});\n", suffix, known.arguments)
                              : fmt::format("${}put($args, kerf_row, {});\n", prefix, finish.term);
  std::string row = code.before, parts, gathered = code.before;
  const std::string jobs =
      "#pragma omp parallel for schedule(static)\nfor (kerf_index turn = 0; turn < $ROWS * $PARTS; ++turn) {\n  "
      "$RANGE\n";
  for (std::size_t k = 0; k < last; ++k) {
    row += call_pass(code, k, suffix) + conclude(code, k);
    std::string saves;
    for (const auto& [type, letter] : state_of(code.results[k])) {
      parts += fmt::format("{} kerf_part{}{}[$ROWS * $PARTS];\n", type, k, letter);
      saves += fmt::format("kerf_part{0}{1}[job] = kerf_a{0}{1};\n", k, letter);
    }
    parts += jobs + indent(gathered + call_pass(code, k, suffix) + saves, 2) + "}\n";
    gathered += gather_parts(code.results[k], k, hooks) + conclude(code, k);
  }
  if (program.per_element)
    parts += jobs + indent(gathered + end, 2) + "}\n";
  else
    parts += "for (kerf_index kerf_row = 0; kerf_row < $ROWS; ++kerf_row) {\n" + indent(gathered + end, 2) + "}\n";
  std::string known_parts = code.before;
  for (std::size_t k = 0; k < last; ++k) {
    values.text[fmt::format("PART_{}{}", k, suffix)] =
        indent(known_parts + call_pass(code, k, suffix) + save_scratch(code.results[k], k), 2);
    known_parts += gather_scratch(code.results[k], k, hooks) + conclude(code, k);
  }
  values.text["PART_LAST" + suffix] = indent(known_parts + end, 2);
  values.text["FUNCTIONS" + suffix] = functions;
  values.text["ROW_CALLS" + suffix] = indent(row + end, 4);
  values.text["PART_CALLS" + suffix] = indent(parts, 2);
}

}  // namespace kerf::synth
