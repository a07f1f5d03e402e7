// The language: syntax, names, dtypes, errors and limits. What the functions compute is in
// expression_functions_test.cpp.

#include "ir/expression/expression.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.hpp"

namespace kerf::ir {
namespace {

std::vector<TensorType> inputs() {
  const Dim rows = Dim::symbol("rows"), cols = Dim::symbol("cols");
  return {{"x", DType::f32, {rows, cols}},
          {"h", DType::f16, {cols}},
          {"i", DType::i32, {rows}},
          {"k", DType::i64, {rows}},
          {"m", DType::boolean, {rows, cols}},
          {"d", DType::f64, {cols}},
          {"q", DType::f32, {Dim(2), Dim(3), Dim(4)}}};
}
const std::vector<Bindings> kSets{{{"rows", 5}, {"cols", 8}}, {{"rows", 3}, {"cols", 9}}};

Result<Graph> parse(std::string_view text, const std::vector<std::string>& outputs = {}) {
  return parse_expression(text, inputs(), outputs, kSets);
}

/// dtype and shape of the last statement, such as "f32[rows, cols]"; or the first line of the error.
std::string type_of(std::string_view text) {
  const auto graph = parse(text);
  if (!graph) return graph.error().message.substr(0, graph.error().message.find('\n'));
  const Node& node = (*graph)[graph->outputs.back().node];
  return std::string(dtype_name(node.dtype)) + to_string(node.shape);
}

std::string refusal(std::string_view text) {
  const auto graph = parse(text);
  return graph ? "accepted" : graph.error().message;
}

#define EXPECT_REFUSED(text, part) EXPECT_NE(refusal(text).find(part), std::string::npos) << refusal(text)

TEST(Expression, StatementsEndAtNewlinesAndSemicolonsButNotInsideBrackets) {
  EXPECT_EQ(type_of("a = x * 2; b = a + 1\n\n# a comment; with = signs\ny = (a +\n  b)  # end\n"), "f32[rows, cols]");
  EXPECT_EQ(type_of("y = sum(x,\n        axis=[0,\n 1])"), "f32[]");
}

TEST(Expression, OutputsAreTheNamedOnesOrTheLast) {
  const auto graph = parse("a = x + 1\nb = a * 2\nc = b", {"b", "a"});
  ASSERT_TRUE(graph);
  ASSERT_EQ(graph->outputs.size(), 2U);
  EXPECT_EQ(graph->outputs[0].name, "b");
  EXPECT_EQ(parse("a = x\nb = a")->outputs[0].name, "b");
  EXPECT_NE(parse("first = x", {"frst"}).error().message.find("did you mean 'first'"), std::string::npos);
  EXPECT_FALSE(parse("a = x", {"a", "a"}));
}

TEST(Expression, InputsStayInOrderWhetherUsedOrNot) {
  const auto graph = parse("y = h * 2");
  ASSERT_EQ(graph->inputs.size(), inputs().size());
  for (std::size_t n = 0; n < inputs().size(); ++n) EXPECT_EQ(graph->inputs[n].name, inputs()[n].name);
}

TEST(Expression, LiteralsAdoptTheTensorsDtype) {
  EXPECT_EQ(type_of("y = h * 2.5 + 1"), "f16[cols]");
  EXPECT_EQ(type_of("y = i + 1"), "i32[rows]");
  EXPECT_EQ(type_of("y = i + 1.5"), "f32[rows]");
  EXPECT_EQ(type_of("y = i / 2"), "f32[rows]");
  EXPECT_EQ(type_of("y = k // 2 % 3"), "i64[rows]");
  EXPECT_EQ(type_of("y = m * 2"), "i64[rows, cols]");
  EXPECT_EQ(type_of("y = h < 1"), "bool[cols]");
  EXPECT_EQ(type_of("y = where(m, 0, h)"), "f16[rows, cols]");
  EXPECT_EQ(type_of("y = h * sqrt(2) / pi"), "f16[cols]") << "functions of literals stay literals";
  EXPECT_EQ(type_of("y = h + x"), "f32[rows, cols]") << "tensors are not weak";
  EXPECT_REFUSED("y = i + 3000000000", "does not fit i32");
}

TEST(Expression, SymbolsAreExtentsAndNumbers) {
  EXPECT_EQ(type_of("y = reshape(x, [rows*cols])"), "f32[cols*rows]");
  EXPECT_EQ(type_of("y = zeros(rows*2, cols//4 + 1)"), "f32[2*rows, cols / 4 + 1]");
  EXPECT_EQ(type_of("y = h / sqrt(cols)"), "f16[cols]");
  EXPECT_EQ(type_of("y = i * cols"), "i32[rows]");
  EXPECT_EQ(type_of("y = d * (1 / cols)"), "f64[cols]");
  EXPECT_EQ(type_of("y = ones(x.shape[1], x.ndim)"), "f32[cols, 2]");
  EXPECT_EQ(type_of("y = zeros(x.shape[:-1] + [7])"), "f32[rows, 7]");
}

TEST(Expression, ScalarsOfF64ExpressionsAreNotRoundedToF32) {
  const auto graph = parse("y = d * (1.0 / sqrt(cols))");
  ASSERT_TRUE(graph);
  const Graph simple = simplify(*graph);
  for (const auto& node : simple.nodes)
    EXPECT_FALSE(is<MapAttr>(node) && node.dtype == DType::f32) << to_string(simple);
}

TEST(Expression, IndexingFollowsPython) {
  EXPECT_EQ(type_of("y = q[1:, ::2, ::-1]"), "f32[1, 2, 4]");
  EXPECT_EQ(type_of("y = q[..., None, -1]"), "f32[2, 3, 1]");
  EXPECT_EQ(type_of("y = q[0, 5:, :100]"), "f32[0, 4]");
  EXPECT_EQ(type_of("y = x[1:-1, ::2]"), "f32[rows - 2, ceil_div(cols, 2)]");
  EXPECT_EQ(type_of("y = x[:rows//2]"), "f32[rows / 2, cols]");
  EXPECT_EQ(type_of("y = x[:, -rows:]"), "f32[rows, rows]") << "cols >= rows in every shape set";
  EXPECT_REFUSED("y = q[2]", "index 2 is outside an axis of extent 2");
  EXPECT_REFUSED("y = x[4]", "outside") << "rows is 3 in one shape set";
  EXPECT_REFUSED("y = q[..., ...]", "once");
  EXPECT_REFUSED("y = q[0,0,0,0]", "too many");
  EXPECT_REFUSED("y = q[::0]", "step");
  EXPECT_REFUSED("y = q[i]", "an index must be an integer");
  EXPECT_REFUSED("y = q[,1]", "expected an index");
  EXPECT_REFUSED("y = q[]", "empty");
}

TEST(Expression, PrecedenceIsPythons) {
  const auto value = [](const std::string& text) {
    const auto graph = parse("y = " + text);
    return graph ? attr<ConstantAttr>((*graph)[graph->outputs[0].node]).value : -12345;
  };
  EXPECT_EQ(value("2 + 3 * 4"), 14);
  EXPECT_EQ(value("-2 ** 2"), -4);
  EXPECT_EQ(value("2 ** -1"), 0.5);
  EXPECT_EQ(value("2 ** 3 ** 2"), 512);
  EXPECT_EQ(value("7 // 2 * 2 - 7 % 4"), 3);
  EXPECT_EQ(value("-7 // 2"), -4);
  EXPECT_EQ(value("7 / 2"), 3.5);
  EXPECT_EQ(value("1 < 2 and not 3 == 4 or false"), 1);
  EXPECT_EQ(value("(true ^ true) | (1 < 2) & true"), 1);
  EXPECT_EQ(value("1 - 2 - 3"), -4);
}

TEST(Expression, ErrorsPointAtTheirCause) {
  EXPECT_EQ(refusal("a = x\ny = softmx(a)"),
            "line 2, column 5: unknown function 'softmx' (did you mean 'softmax'?)\n  y = softmx(a)\n      ^");
  EXPECT_EQ(refusal("y = softmax(x, axs=1)").substr(0, 20), "line 1, column 20: s");
  EXPECT_REFUSED("y = softmax(x, axs=1)", "no parameter 'axs' (did you mean 'axis'?)");
  EXPECT_REFUSED("y = softmax(x, axis=5)", "column 21: softmax: 'axis' is 5, outside a tensor of rank 2");
  EXPECT_REFUSED("total = x\ny = totl", "unknown name 'totl' (did you mean 'total'?)");
  EXPECT_REFUSED("y = x + q", "column 7: add: shapes [rows, cols] and [2, 3, 4] do not broadcast");
  EXPECT_REFUSED("y = x @ x", "do not agree on the summed extent (cols against rows)");
  EXPECT_REFUSED("y = x.sum()", "there are no methods; call the function instead: sum(x, ...)");
  EXPECT_REFUSED("y = x.tt", "unknown attribute 'tt'");
  EXPECT_REFUSED("y = softmax", "is a function; call it: softmax(x, axis=-1)");
  EXPECT_REFUSED("y = sum(x, axis=0, axis=1)", "given twice");
  EXPECT_REFUSED("y = exp(x, 1, 2)", "takes at most 1 arguments");
  EXPECT_REFUSED("y = exp()", "needs 'x'");
  EXPECT_REFUSED("y = sum(axis=0, x)", "cannot follow a named one");
  EXPECT_REFUSED("y = x ^ x", "needs bool operands");
  EXPECT_REFUSED("y = x < x < x", "chained");
  EXPECT_REFUSED("x = h", "is an input");
  EXPECT_REFUSED("rows = 2", "shape symbol");
  EXPECT_REFUSED("y = [1, 2]", "must be a tensor, not a list");
  EXPECT_REFUSED("y = none", "no value");
}

TEST(Expression, RefusalsSayWhatToWriteInstead) {
  EXPECT_REFUSED("y = x[:, cols/2:]", "use // for whole-number division");
  EXPECT_REFUSED("y = reshape(x, rows, cols/2, 2)", "use // for whole-number division");
  EXPECT_REFUSED("y = topk(x, 2)", "write .values or .indices after it");
  EXPECT_REFUSED("y = exp(split(q, 1, 1))", "take one of its parts: [0], [1]");
  EXPECT_REFUSED("a, b = chunk(x, 2, 1)", "then 'a = parts[0]'");
  EXPECT_REFUSED("y = x[argmax(x, 1)]", "take(x, index, axis) and gather(x, index, axis)");
  EXPECT_REFUSED("y = x.half()", "call the function instead: f16(x)");
  EXPECT_REFUSED("y = half(x)", "unknown function 'half' (did you mean 'f16'?)");
  EXPECT_REFUSED("y = sort(x)", "topk(x, k) has the k largest values in order");
  EXPECT_REFUSED("y = gleu(x)", "did you mean 'gelu'?");
  EXPECT_EQ(parse("y = x", {"z"}).error().message.find("'x'"), std::string::npos) << "an input is not assigned";
}

TEST(Expression, BrokenTextIsRefusedWithAPosition) {
  EXPECT_REFUSED("", "empty");
  EXPECT_REFUSED("  # nothing\n;;\n", "empty");
  EXPECT_REFUSED("x", "expected '='");
  EXPECT_REFUSED("y = ", "found the end of the statement");
  EXPECT_REFUSED("y = (x", "expected ')'");
  EXPECT_REFUSED("y = x)", "unexpected ')'");
  EXPECT_REFUSED("y = x $ 2", "unexpected '$'");
  EXPECT_REFUSED("y = \"open", "closing quote");
  EXPECT_REFUSED("y = 99999999999999999999", "does not fit 64 bits");
  EXPECT_REFUSED("y = 1e999", "does not fit a double");
  EXPECT_REFUSED("y = 9223372036854775807 + 1 + x", "overflow");
  EXPECT_REFUSED("y = 12abc", "letter");
  EXPECT_REFUSED("y = \xff\xfe", "outside ASCII");
  EXPECT_REFUSED(std::string_view("y = x\0+ 1", 9), "outside ASCII");
  EXPECT_EQ(refusal("y = \xc3\xa9").find('\xc3'), std::string::npos) << "messages stay plain text";
}

TEST(Expression, DepthIsLimitedAndLengthIsNot) {
  EXPECT_REFUSED("y = " + std::string(5000, '(') + "x" + std::string(5000, ')'), "nested more than 200");
  EXPECT_REFUSED("y = " + std::string(100000, '-') + "x", "nested");
  EXPECT_REFUSED(
      "y = x" +
          [] {
            std::string powers;
            for (int n = 0; n < 5000; ++n) powers += "**x";
            return powers;
          }(),
      "nested");
  std::string sum = "y = x";
  for (int n = 0; n < 4000; ++n) sum += " + " + std::to_string(n);
  EXPECT_EQ(type_of(sum), "f32[rows, cols]") << "a long flat sum is fine";
  std::string chain = "y = q";
  for (int n = 0; n < 4000; ++n) chain += "[:]";
  EXPECT_EQ(type_of(chain), "f32[2, 3, 4]");
}

TEST(Expression, GraphsAndExtentsOfUnboundedSizeAreRefused) {
  std::string many = "y = x";
  for (int n = 0; n < 25000; ++n) many += "+" + std::to_string(n);
  EXPECT_REFUSED(many, "more than 20000 nodes");
  std::string doubling = "a = rows";
  for (int n = 0; n < 100; ++n) doubling += "\na = a*a + cols";
  EXPECT_REFUSED(doubling + "\ny = zeros(a)", "too large");
  EXPECT_REFUSED(std::string(300000, ' ') + "y = x", "256 KiB");
}

TEST(Expression, WeakScalarsOfManySharedPartsWidenInLinearTime) {
  std::string text = "a = sqrt(cols)";
  for (int n = 0; n < 60; ++n) text += "\na = a + a * 0.5";
  EXPECT_EQ(type_of(text + "\ny = d * a"), "f64[cols]");
}

TEST(Expression, CompositeFunctionsLeaveTheirNameAndOccurrence) {
  const auto graph = parse("a = softmax(x)\ny = softmax(a * 3) + exp(x)");
  ASSERT_TRUE(graph);
  std::map<std::string, int> origins;
  for (const auto& node : graph->nodes) ++origins[node.origin];
  EXPECT_EQ(origins["softmax#1"], 5);
  EXPECT_EQ(origins["softmax#2"], 5);
  EXPECT_EQ((*graph)[graph->outputs[0].node].origin, "");
}

TEST(Expression, AnIndexOfAnExtremeAlongAnAxisIsPyTorchsPair) {
  EXPECT_EQ(type_of("y = max(x, dim=1)[0]"), "f32[rows]");
  EXPECT_EQ(type_of("y = max(x, dim=1)[1]"), "i64[rows]");
  EXPECT_EQ(type_of("y = min(x, 0, keepdim=true)[1]"), "i64[1, cols]");
  EXPECT_EQ(type_of("a = max(x, 1)\ny = a.values + a.indices"), "f32[rows]");
  EXPECT_EQ(type_of("y = max(x, dim=1)[0][0]"), "f32[]") << "the first batch element";
  EXPECT_EQ(type_of("y = amax(x, dim=1)[0]"), "f32[]") << "amax gives values only";
  EXPECT_EQ(type_of("y = max(x, axis=1)[:, None] + x"), "f32[rows, cols]") << "slices are of the values";
  EXPECT_EQ(type_of("y = (max(x, axis=1) + 1)[0]"), "f32[]") << "arithmetic is on the values";
  EXPECT_REFUSED("y = max(x, dim=1)[2]", "[0] is the values and [1] the indices; to index the values write [0][2]");
  EXPECT_REFUSED("y = sum(x, dim=1).values", "unknown attribute 'values'");
}

TEST(Expression, IndicesMustBeIntegersThatFit) {
  EXPECT_EQ(type_of("y = gather(x, 0, reshape(k, [rows, 1]))[0]"), "f32[1]") << "x is narrowed to the indices";
  EXPECT_EQ(type_of("y = embedding(k, x)"), "f32[rows, cols]");
  EXPECT_EQ(type_of("y = topk(x, 2)[0]"), "f32[rows, 2]");
  EXPECT_REFUSED("y = gather(x, 0, x)", "must hold integers, not f32");
  EXPECT_REFUSED("y = gather(x, 0, k)", "must have as many axes as x, 2");
  EXPECT_REFUSED("y = topk(x, rows + 4, 0)", "minus k is -4");
}

TEST(Expression, GroupsOfAConvolutionMayBeASymbol) {
  EXPECT_EQ(type_of("y = conv1d(reshape(x, [1, rows, cols]), ones(rows, 1, 3), groups=rows)"),
            "f32[1, rows, cols - 2]");
  EXPECT_REFUSED("y = conv1d(q, ones(3, 1, 3), groups=rows)", "input channels");
  EXPECT_REFUSED("y = conv1d(q, ones(3, 1, 3), groups=rows - 3)", "groups is rows - 3 = 0, but must be at least 1");
}

TEST(Expression, SizesOfWindowsMayBeExtentsThatAreTheSameEverywhere) {
  EXPECT_EQ(type_of("y = max_pool1d(q, cols // cols + 1)"), "f32[2, 3, 2]");
  EXPECT_EQ(type_of("y = max_pool1d(q, cols // 8 + 1)"), "f32[2, 3, 2]") << "cols // 8 is 1 in both shape sets";
  EXPECT_REFUSED("y = max_pool1d(q, rows)", "'kernel_size' is rows, which is 5 in one shape set and 3 in another");
}

TEST(Expression, InputsMustHaveDistinctNames) {
  EXPECT_FALSE(parse_expression("y = a", {{"a", DType::f32, {}}, {"a", DType::f32, {}}}, {}, {}));
  EXPECT_FALSE(parse_expression("y = n", {{"n", DType::f32, {Dim::symbol("n")}}}, {}, {}));
}

TEST(Expression, MutilatedTextNeverCrashes) {
  const std::string_view seed =
      "a = softmax(x[1:-1, ::2] * 2.5e-1, axis=-1) @ ones((cols + 1)//2, 3)\ny = einsum(\"ij,kj->ik\", a, a) ** 2 + "
      "mean(x.T, "
      "[0, 1]) // 3; z = conv1d(q, ones(2, 3, 3), padding=\"same\")";
  Rng rng(3);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text(seed);
    for (auto edits = rng.integer(1, 4); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(text.size()) - 1));
      switch (rng.integer(0, 3)) {
        case 0: text.erase(at, static_cast<std::size_t>(rng.integer(1, 5))); break;
        case 1: text.insert(at, 1, static_cast<char>(rng.integer(0, 255))); break;
        case 2: text[at] = static_cast<char>(rng.integer(32, 126)); break;
        default: text.insert(at, text.substr(static_cast<std::size_t>(rng.integer(0, 20)), 12));
      }
      if (text.empty()) text = "y";
    }
    const auto graph = parse(text);
    accepted += graph ? 1 : 0;
    EXPECT_TRUE(graph || graph.error().message.rfind("line ", 0) == 0);
  }
  EXPECT_GT(accepted, 10) << "some mutations are harmless";
}

TEST(TensorType, ReadsDtypeAndSymbolicShape) {
  const auto type = parse_tensor_type("x", " f32[rows, 2*cols, max(rows, 4)] ");
  ASSERT_TRUE(type);
  EXPECT_EQ(type->name, "x");
  EXPECT_EQ(to_string(type->shape), "[rows, 2*cols, max(4, rows)]");
  EXPECT_TRUE(parse_tensor_type("s", "bool[]")->shape.empty());
  EXPECT_NE(parse_tensor_type("x", "fp32[n]").error().message.find("did you mean 'f32'"), std::string::npos);
  EXPECT_NE(parse_tensor_type("x", "float16[n]")
                .error()
                .message.find("unknown dtype 'float16' (did you mean 'f16'?); choose one of: f32, f16, bf16"),
            std::string::npos);
  for (const auto* bad : {"f32", "f32[", "f32[n", "f32[-1]", "f32[n,]", "f32[(n, m]", "[n]", "f32[n]]", ""})
    EXPECT_FALSE(parse_tensor_type("x", bad)) << bad;
}

}  // namespace
}  // namespace kerf::ir
