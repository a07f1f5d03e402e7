// Pairs of reductions in one pass: values are taken in pieces, each piece is dealt with twice while it is at hand, and
// the results of pieces are merged. No rounding of the merge depends on how far apart the pieces' values lie.

#include <fmt/format.h>

#include "propose/synth/families/row_text.hpp"

namespace kerf::synth {
namespace {

// State: what the first reduction has come to, what the second has, and the number of values.
constexpr std::string_view kMergeMoments =
    R"(KERF_FN void $merge_{k}({T}* first, {T}* second, {T}* count, {T} f, {T} s, {T} n) {{
  if (n > 0) {{
    if (*count > 0) {{
      const {T} apart = f / n - *first / *count;
      *second = (*second + s) + apart * apart * (*count * n / (*count + n));
    }} else {{
      *second = s;
    }}
    *first += f;
    *count += n;
  }}
}}
KERF_FN {T} $local_{k}(const {T}* x, int most, int have, {T}* second) {{
  {T} sum = 0, squares = 0;
  KERF_UNROLL
  for (int j = 0; j < most; ++j)
    if (j < have) sum += x[j];
  const {T} mean = sum / have;
  KERF_UNROLL
  for (int j = 0; j < most; ++j)
    if (j < have) squares += (x[j] - mean) * (x[j] - mean);
  *second = squares;
  return sum;
}}
)";

// Pieces that are -infinity throughout add nothing; a row of them has no sum.
constexpr std::string_view kMergeOnline =
    R"(KERF_FN void $merge_{k}({T}* first, {T}* second, {T}* count, {T} f, {T} s, {T} n) {{
  if (n > 0) {{
    if (*count > 0) {{
      const {T} top = kerf_max_nan(*first, f);
      const {T} a = *first == top ? 1 : {exp}(*first - top), b = f == top ? 1 : {exp}(f - top);
      *second = *second * a + s * b;
      *first = top;
    }} else {{
      *first = f;
      *second = s;
    }}
    *count += n;
  }}
}}
KERF_FN {T} $local_{k}(const {T}* x, int most, int have, {T}* second) {{
  {T} top = -KERF_INFINITY, sum = 0;
  KERF_UNROLL
  for (int j = 0; j < most; ++j)
    if (j < have) top = kerf_max_nan(top, x[j]);
  if (top != -KERF_INFINITY) {{
    KERF_UNROLL
    for (int j = 0; j < most; ++j)
      if (j < have) sum += {exp}(x[j] - top);
  }}
  *second = sum;
  return top;
}}
)";

constexpr std::string_view kAllPair =
    R"(KERF_FN void $all_{k}({T}* first, {T}* second, {T}* count, KERF_LOCAL {T}* s, int lane, int threads) {{
#if KERF_WARP > 1
  KERF_UNROLL
  for (int m = KERF_WARP / 2; m > 0; m >>= 1)
    $merge_{k}(first, second, count, KERF_SHUFFLE_XOR(*first, m), KERF_SHUFFLE_XOR(*second, m), KERF_SHUFFLE_XOR(*count, m));
  if (threads > KERF_WARP) {{
    const int warp = lane / KERF_WARP, own = lane % KERF_WARP;
    if (own == 0) s[3 * warp] = *first, s[3 * warp + 1] = *second, s[3 * warp + 2] = *count;
    KERF_BARRIER();
    *count = 0;
    if (own < threads / KERF_WARP) *first = s[3 * own], *second = s[3 * own + 1], *count = s[3 * own + 2];
    KERF_UNROLL
    for (int m = KERF_WARP / 2; m > 0; m >>= 1) {{
      const {T} f = KERF_SHUFFLE_XOR(*first, m), t = KERF_SHUFFLE_XOR(*second, m), n = KERF_SHUFFLE_XOR(*count, m);
      if (*count > 0) $merge_{k}(first, second, count, f, t, n);
      else *first = f, *second = t, *count = n;
    }}
  }}
#else
  s[3 * lane] = *first, s[3 * lane + 1] = *second, s[3 * lane + 2] = *count;
  KERF_BARRIER();
  for (int m = threads / 2; m > 0; m >>= 1) {{
    if (lane < m) {{
      const int there = 3 * (lane + m);
      $merge_{k}(first, second, count, s[there], s[there + 1], s[there + 2]);
      s[3 * lane] = *first, s[3 * lane + 1] = *second, s[3 * lane + 2] = *count;
    }}
    KERF_BARRIER();
  }}
  *first = s[0], *second = s[1], *count = s[2];
#endif
}}
)";

constexpr std::string_view kHostPair =
    R"(static void $pass_{k}{x}($params, kerf_index kerf_row, kerf_index begin, kerf_index end{known}, {T}* first, {T}* second, {T}* count) {{
  enum {{ W = $LANES }};
  {T} one = 0, two = 0, seen = 0;
  for (kerf_index kerf_major = begin / $RUN; kerf_major * $RUN < end; ++kerf_major)
  for (kerf_index start = kerf_max(begin, kerf_major * $RUN), limit = kerf_min(end, (kerf_major + 1) * $RUN); start < limit; start += W * 64) {{
    const kerf_index stop = start + W * 64 < limit ? start + W * 64 : limit;
    const {T} have = ({T})(stop - start);
    {T} lanes[W], centre = {start};
    for (int l = 0; l < W; ++l) lanes[l] = {start};
    kerf_index c = start;
    for (; c + W <= stop; c += W) {{
KERF_SIMD
      for (int l = 0; l < W; ++l) {{
        const kerf_index kerf_col = c + l;
{values}        const {T} kerf_t = {term};
        lanes[l] = {one};
      }}
    }}
    const int rest = (int)(stop - c);
KERF_SIMD
    for (int l = 0; l < rest; ++l) {{
      const kerf_index kerf_col = c + l;
{values}      const {T} kerf_t = {term};
      lanes[l] = {one};
    }}
    for (int h = W / 2; h > 0; h /= 2)
      for (int l = 0; l < h; ++l) lanes[l] = {join};
    const {T} got = lanes[0];
    {T} more = 0;
    centre = {centre};
    for (int l = 0; l < W; ++l) lanes[l] = 0;
    if ({worth}) {{
      for (c = start; c + W <= stop; c += W) {{
KERF_SIMD
        for (int l = 0; l < W; ++l) {{
          const kerf_index kerf_col = c + l;
{values}          const {T} off = ({term}) - centre;
          lanes[l] += {two};
        }}
      }}
KERF_SIMD
      for (int l = 0; l < rest; ++l) {{
        const kerf_index kerf_col = c + l;
{values}        const {T} off = ({term}) - centre;
        lanes[l] += {two};
      }}
      for (int h = W / 2; h > 0; h /= 2)
        for (int l = 0; l < h; ++l) lanes[l] += lanes[l + h];
      more = lanes[0];
    }}
    $merge_{k}(&one, &two, &seen, got, more, have);
  }}
  *first = one, *second = two, *count = seen;
}}
)";

std::string exponential(const RowResult& result, const HookWriter& hooks) {
  return codegen::math_function(hooks.dialect(), "exp", result.dtype);
}

}  // namespace

std::string pair_functions(const RowResult& result, std::size_t k, const HookWriter& hooks, bool gpu) {
  using fmt::arg;
  const std::string exp = exponential(result, hooks);
  std::string text = fmt::format(fmt::runtime(result.pair == Pair::moments ? kMergeMoments : kMergeOnline), arg("k", k),
                                 arg("T", result.type), arg("exp", exp));
  if (gpu) text += fmt::format(kAllPair, arg("k", k), arg("T", result.type));
  return text;
}

std::string declare_pair(const RowResult& result, std::size_t k) {
  return fmt::format("{0} kerf_a{1} = 0, kerf_a{1}m = 0, kerf_a{1}n = 0;\n", result.type, k);
}

std::string conclude_pair(const RowResult& result, std::size_t k) {
  const std::string second = result.pair == Pair::online
                                 ? fmt::format("kerf_a{0} == -KERF_INFINITY ? KERF_NAN : kerf_a{0}m", k)
                                 : fmt::format("kerf_a{}m", k);
  return fmt::format("const {0} kerf_s{1} = kerf_a{1}, kerf_s{1}m = {2};\n", result.type, k, second);
}

std::string pair_range(const RowResult& result, std::size_t k, const PassCode& pass) {
  return declare_pair(result, k) +
         fmt::format(
             R"(for (kerf_index start = begin + (kerf_index)lane * V; start < end; start += (kerf_index)THREADS * V * 4) {{
  {0} x[4 * V], kerf_t;
  int have = 0;
  KERF_UNROLL
  for (int i = 0; i < 4; ++i) {{
    const kerf_index base = start + (kerf_index)i * THREADS * V;
    if (base < end) {{
{1}      KERF_UNROLL
      for (int v = 0; v < V; ++v) {{
        const kerf_index kerf_col = base + v;
{2}        x[i * V + v] = ({0})({3});
      }}
      have += V;
    }}
  }}
  const {0} kerf_f = $local_{4}(x, 4 * V, have, &kerf_t);
  $merge_{4}(&kerf_a{4}, &kerf_a{4}m, &kerf_a{4}n, kerf_f, kerf_t, ({0})have);
}}
)",
             result.type, indent(pass.reads, 6), indent(pass.values, 8), pass.term, k);
}

std::string host_pair(const RowResult& result, std::size_t k, const PassCode& pass, const std::string& suffix,
                      const std::string& known, const HookWriter& hooks) {
  using fmt::arg;
  const bool moments = result.pair == Pair::moments;
  return fmt::format(
      fmt::runtime(kHostPair), arg("k", k), arg("x", suffix), arg("T", result.type), arg("known", known),
      arg("values", indent(pass.values, 8)), arg("term", pass.term), arg("start", moments ? "0" : "-KERF_INFINITY"),
      arg("one", moments ? "lanes[l] + kerf_t" : "kerf_max_nan(lanes[l], kerf_t)"),
      arg("join", moments ? "lanes[l] + lanes[l + h]" : "kerf_max_nan(lanes[l], lanes[l + h])"),
      arg("centre", moments ? "got / have" : "got"), arg("worth", moments ? "1" : "got != -KERF_INFINITY"),
      arg("two", moments ? std::string("off * off") : exponential(result, hooks) + "(off)"));
}

}  // namespace kerf::synth
