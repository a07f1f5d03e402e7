// Products of matrices and vectors; attention.

#include <algorithm>
#include <limits>
#include <map>

#include "ir/expression/functions.hpp"

namespace kerf::ir {
namespace {

Value matmul(Call& call) {
  const auto args = call.tensors({"x", "y"});
  return Value::of(call.ops.matmul(args[0], args[1]));
}

/// As matmul, for operands of exactly these ranks.
template <int left, int right>
Value strict_matmul(Call& call) {
  const auto args = call.tensors({"x", "y"});
  if (!call.ops.failed() && (args[0].rank() != left || args[1].rank() != right))
    call.fail("needs ranks " + std::to_string(left) + " and " + std::to_string(right) + ", not shapes " +
              to_string(args[0].shape()) + " and " + to_string(args[1].shape()));
  return Value::of(call.ops.matmul(args[0], args[1]));
}

Value outer(Call& call) {
  const auto args = call.tensors({"x", "y"});
  if (!call.ops.failed() && (args[0].rank() != 1 || args[1].rank() != 1)) call.fail("needs two vectors");
  if (call.ops.failed()) return {};
  return Value::of(unsqueeze(args[0], 1) * unsqueeze(args[1], 0));
}

Value linear(Call& call) {
  const auto args = call.tensors({"x", "weight"});
  const T x = args[0], weight = args[1];
  if (!call.ops.failed() && (x.rank() < 1 || weight.rank() < 1 || weight.rank() > 2))
    call.fail("needs x[..., in] and weight[out, in], not shapes " + to_string(x.shape()) + " and " +
              to_string(weight.shape()));
  if (call.ops.failed()) return {};
  const int in = x.rank() - 1, out = x.rank();
  ContractAttr attr;
  for (int d = 0; d < in; ++d) attr.out.push_back(d);
  attr.lhs = attr.out;
  attr.lhs.push_back(in);
  attr.rhs = {in};
  if (weight.rank() == 2) {
    attr.rhs = {out, in};
    attr.out.push_back(out);
  }
  const T product = call.ops.contract(x, weight, std::move(attr));
  return Value::of(call.has("bias") ? product + call.tensor("bias") : product);
}

Value bilinear(Call& call) {
  const auto args = call.tensors({"x", "y", "weight"});
  if (!call.ops.failed() && (args[0].rank() < 1 || args[0].rank() != args[1].rank() || args[2].rank() != 3))
    call.fail("needs x[..., in1], y[..., in2] and weight[out, in1, in2]");
  if (call.ops.failed()) return {};
  std::vector<int> batch;
  for (int d = 0; d + 1 < args[0].rank(); ++d) batch.push_back(d + 3);
  const auto with = [&](int label) {
    std::vector<int> labels = batch;
    labels.push_back(label);
    return labels;
  };
  const T product = einsum(call.ops, {args[0], args[2], args[1]}, {with(0), {2, 0, 1}, with(1)}, with(2));
  return Value::of(call.has("bias") ? product + call.tensor("bias") : product);
}

Value addmm(Call& call) {
  const auto args = call.tensors({"x", "mat1", "mat2", "beta", "alpha"});
  return Value::of(args[3] * args[0] + args[4] * call.ops.matmul(args[1], args[2]));
}

/// Labels of one operand of an equation; '.' stands for the axes of the ellipsis.
struct Subscript {
  std::string labels;
  int ellipsis_rank = 0;
};

/// The subscripts of `equation` with spaces dropped and "..." as '.'; the output, if explicit, in `output`.
std::vector<Subscript> split_equation(Call& call, const std::string& equation, std::optional<std::string>& output) {
  std::vector<Subscript> inputs(1);
  bool after_arrow = false;
  for (std::size_t i = 0; i < equation.size(); ++i) {
    const char c = equation[i];
    std::string& target = after_arrow ? *output : inputs.back().labels;
    if (c == ' ') continue;
    if (c == ',' && !after_arrow) {
      inputs.emplace_back();
    } else if (equation.compare(i, 2, "->") == 0 && !after_arrow) {
      after_arrow = true;
      output.emplace();
      ++i;
    } else if (equation.compare(i, 3, "...") == 0 && target.find('.') == std::string::npos) {
      target += '.';
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      target += c;
    } else {
      call.fail("equation", "has an unexpected '" + std::string(1, c) + "'");
      return inputs;
    }
  }
  return inputs;
}

constexpr int kEllipsis = 256;  // labels of ellipsis axes, counted from the right: kEllipsis + 0 is the last

std::vector<int> to_labels(const std::string& text, int ellipsis_rank) {
  std::vector<int> labels;
  for (const char c : text) {
    if (c != '.') labels.push_back(c);
    for (int d = ellipsis_rank; c == '.' && d-- > 0;) labels.push_back(kEllipsis + d);
  }
  return labels;
}

/// Without "->": the ellipsis, then every letter that occurs once, in order.
std::string implicit_output(const std::vector<Subscript>& inputs) {
  std::map<char, int> uses;
  for (const auto& input : inputs)
    for (const char c : input.labels) ++uses[c];
  std::string output = uses.contains('.') ? "." : "";
  for (const auto& [label, count] : uses)
    if (label != '.' && count == 1) output += label;
  return output;
}

Value einsum_call(Call& call) {
  if (call.value("equation").kind != ValueKind::text) {
    call.fail("equation", "must be text such as \"ij,jk->ik\"");
    return {};
  }
  const std::vector<Value>& items = call.value("operands").items;
  std::optional<std::string> output;
  std::vector<Subscript> inputs = split_equation(call, call.value("equation").text, output);
  if (call.ops.failed()) return {};
  if (inputs.size() != items.size() || items.size() > 16) {
    call.fail("equation", "has " + std::to_string(inputs.size()) + " operands, but " + std::to_string(items.size()) +
                              " tensors are given");
    return {};
  }
  const std::vector<T> operands = coerce(call.ops, items);
  if (call.ops.failed()) return {};
  int ellipsis_rank = 0;
  std::vector<std::vector<int>> labels;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool open = inputs[i].labels.find('.') != std::string::npos;
    inputs[i].ellipsis_rank = open ? operands[i].rank() - static_cast<int>(inputs[i].labels.size()) + 1 : 0;
    if (inputs[i].ellipsis_rank < 0 || (!open && static_cast<int>(inputs[i].labels.size()) != operands[i].rank())) {
      call.fail("equation",
                "does not fit operand " + std::to_string(i + 1) + " of shape " + to_string(operands[i].shape()));
      return {};
    }
    ellipsis_rank = std::max(ellipsis_rank, inputs[i].ellipsis_rank);
    labels.push_back(to_labels(inputs[i].labels, inputs[i].ellipsis_rank));
  }
  const std::vector<int> out = to_labels(output ? *output : implicit_output(inputs), ellipsis_rank);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool known = std::any_of(labels.begin(), labels.end(), [&](const auto& operand) {
      return std::find(operand.begin(), operand.end(), out[i]) != operand.end();
    });
    if (known && std::count(out.begin(), out.end(), out[i]) == 1) continue;
    call.fail("equation", "has an output label that is unknown or occurs twice");
    return {};
  }
  return Value::of(einsum(call.ops, operands, std::move(labels), out));
}

Value attention(Call& call) {
  const auto args = call.tensors({"q", "k", "v"});
  const T q = call.ops.to_float(args[0]), k = call.ops.to_float(args[1]), v = call.ops.to_float(args[2]);
  if (!call.ops.failed() && (q.rank() < 2 || k.rank() < 2 || v.rank() < 2))
    call.fail("q, k and v need at least two axes");
  if (call.ops.failed()) return {};
  // Batch axes are labelled from the right, so that missing and stretched ones line up.
  enum : int { kQuery, kKey, kDepth, kBatch };
  const auto labelled = [](T x, int row, int column) {
    std::vector<int> labels;
    for (int d = x.rank() - 2; d-- > 0;) labels.push_back(kBatch + d);
    labels.push_back(row);
    labels.push_back(column);
    return labels;
  };
  const T& deeper = q.rank() >= k.rank() ? q : k;
  const T dots = einsum(call.ops, {q, k}, {labelled(q, kQuery, kDepth), labelled(k, kKey, kDepth)},
                        labelled(deeper, kQuery, kKey));
  const T scale = call.has("scale") ? to_tensor(call.ops, call.value("scale"), q.dtype())
                                    : apply(MapOp::rsqrt, call.ops.value_of(q.extent(-1), q.dtype()));
  T scores = dots * scale;
  const T never = call.ops.constant(-std::numeric_limits<double>::infinity(), q.dtype());
  if (call.has("mask")) {
    const T mask = call.tensor("mask");
    scores = mask.dtype() == DType::boolean ? select(mask, scores, never) : scores + mask;
  }
  if (call.flag("causal")) scores = select(below_diagonal(call.ops, q.extent(-2), k.extent(-2), 0), scores, never);
  const T weights = softmax(scores, scores.rank() - 1);
  return Value::of(call.ops.matmul(weights, v));
}

}  // namespace

std::span<const FunctionRow> linear_functions() {
  static constexpr FunctionRow kRows[] = {
      {"matmul(x, y)", "x @ y: batched and broadcast as in NumPy; vectors stand for a row or a column.", matmul,
       kPrimitive},
      {"mm(x, y)", "Product of two matrices.", strict_matmul<2, 2>, kPrimitive},
      {"bmm(x, y)", "Product of two batches of matrices.", strict_matmul<3, 3>, kPrimitive},
      {"mv(x, y)", "Product of a matrix and a vector.", strict_matmul<2, 1>, kPrimitive},
      {"dot(x, y)", "Sum of the products of two vectors.", strict_matmul<1, 1>, kPrimitive},
      {"outer(x, y)", "All products of two vectors, [len(x), len(y)].", outer, kPrimitive},
      {"linear(x, weight, bias=none)", "x @ weight.T + bias, with weight[out, in].", linear},
      {"bilinear(x, y, weight, bias=none)", "x[i] * weight[o, i, j] * y[j] summed over i and j, plus bias.", bilinear},
      {"addmm(x, mat1, mat2, beta=1, alpha=1)", "beta * x + alpha * (mat1 @ mat2).", addmm, true, "baddbmm"},
      {"einsum(equation, *operands)",
       "Einstein summation: letters, \"...\", repeated letters for diagonals, \"->\" optional.", einsum_call},
      {"attention(q, k, v, mask=none, causal=false, scale=none)",
       "softmax(q @ k^T * scale) @ v; scale is 1/sqrt(depth) by default, a bool mask keeps where true, a float mask is "
       "added, causal keeps key <= query.",
       attention, true, "scaled_dot_product_attention"},
  };
  return kRows;
}

}  // namespace kerf::ir
