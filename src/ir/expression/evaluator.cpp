#include "ir/expression/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "ir/expression/functions.hpp"
#include "ir/expression/hints.hpp"
#include "ir/expression/index.hpp"
#include "ir/expression/operators.hpp"

namespace kerf::ir {
namespace {

constexpr NodeId kMaxNodes = 20000;
constexpr int kMaxRank = 16;

/// true, pi, ... unless the user took the name.
std::optional<Value> literal_name(std::string_view name) {
  if (name == "true" || name == "True") return Value::of_bool(true);
  if (name == "false" || name == "False") return Value::of_bool(false);
  if (name == "none" || name == "None") return Value{};
  if (name == "inf") return Value::of_real(std::numeric_limits<double>::infinity());
  if (name == "nan") return Value::of_real(std::numeric_limits<double>::quiet_NaN());
  if (name == "pi") return Value::of_real(M_PI);
  return std::nullopt;
}

/// Python's list indexing with constants; nothing when out of range.
std::optional<Value> list_item(const Value& list, const Dim& position) {
  const auto size = static_cast<std::int64_t>(list.items.size());
  if (!position.is_constant() || position.constant() < -size || position.constant() >= size) return std::nullopt;
  const std::int64_t at = position.constant();
  return list.items[static_cast<std::size_t>(at < 0 ? at + size : at)];
}

std::optional<Value> list_slice(const Value& list, const std::optional<Dim>& start, const std::optional<Dim>& stop) {
  const auto size = static_cast<std::int64_t>(list.items.size());
  const auto bound = [&](const std::optional<Dim>& given, std::int64_t otherwise) -> std::optional<std::int64_t> {
    if (!given) return otherwise;
    if (!given->is_constant()) return std::nullopt;
    const std::int64_t at = std::clamp(given->constant(), -size, size);
    return at < 0 ? at + size : at;
  };
  const auto first = bound(start, 0), last = bound(stop, size);
  if (!first || !last) return std::nullopt;
  if (*first >= *last) return Value::of_list({});
  return Value::of_list({list.items.begin() + *first, list.items.begin() + *last});
}

}  // namespace

void Evaluator::fail(std::size_t at, const std::string& message) {
  if (!ops_.failed()) error_at_ = at;
  ops_.fail(message);
}

Status Evaluator::run() {
  for (const auto& statement : program_.statements) {
    if (fixed_.contains(statement.name))
      return source_.error(statement.at,
                           "'" + statement.name + "' is an input or a shape symbol and cannot be assigned");
    if (statement.name == "not" || literal_name(statement.name))
      return source_.error(statement.at, "'" + statement.name + "' is a word of the language and cannot be assigned");
    Value value = evaluate(statement.value);
    if (!ops_.failed() && value.is_none()) fail(statement.at, "'" + statement.name + "' would hold no value");
    if (ops_.failed()) return source_.error(error_at_, ops_.error());
    variables_[statement.name] = std::move(value);
  }
  return {};
}

Result<NodeId> Evaluator::output(const std::string& name) {
  const auto found = variables_.find(name);
  const auto fixed = fixed_.find(name);
  std::vector<std::string> assigned;
  for (const auto& statement : program_.statements) assigned.push_back(statement.name);
  if (found == variables_.end() && fixed == fixed_.end())
    return kerf::fail(Errc::invalid_input,
                      "the output '" + name + "' is not assigned by the expression" + did_you_mean(name, assigned));
  const Value& value = found != variables_.end() ? found->second : fixed->second;
  std::size_t at = 0;
  for (const auto& statement : program_.statements)
    if (statement.name == name) at = statement.at;
  if (!value.is_numeric())
    return source_.error(at, "the output '" + name + "' must be a tensor, not " + value.describe() + part_hint(value));
  const T tensor = to_tensor(ops_, value);
  if (ops_.failed()) return source_.error(at, ops_.error());
  return tensor.id;
}

void Evaluator::check_limits(const Value& value, std::size_t at) {
  if (ops_.failed() || value.kind != ValueKind::tensor) return;
  if (value.tensor.id > kMaxNodes) fail(at, "the graph has more than " + std::to_string(kMaxNodes) + " nodes");
  if (value.tensor.rank() > kMaxRank) fail(at, "more than " + std::to_string(kMaxRank) + " axes");
}

Value Evaluator::evaluate(ExprId id) {
  // Operators, indices and attributes lean left and may form long chains, so they are walked in a loop.
  std::vector<ExprId> chain;
  const auto leans = [](ExprKind kind) {
    return kind == ExprKind::binary || kind == ExprKind::index || kind == ExprKind::attribute;
  };
  for (; leans(program_[id].kind); id = program_[id].children[0]) chain.push_back(id);
  Value value = evaluate_leaf(program_[id]);
  if (!ops_.failed()) value.at = program_[id].at;
  const std::size_t begin = value.at;
  for (auto next = chain.rbegin(); next != chain.rend() && !ops_.failed(); ++next) {
    value = apply_postfix(program_[*next], std::move(value));
    value.at = begin;
    check_limits(value, program_[*next].at);
  }
  return ops_.failed() ? Value{} : value;
}

Value Evaluator::evaluate_leaf(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::integer: return Value::of(Dim(expr.integer));
    case ExprKind::real: return Value::of_real(expr.real);
    case ExprKind::text: return Value::of_text(expr.text);
    case ExprKind::name: return evaluate_name(expr);
    case ExprKind::call: return evaluate_call(expr);
    case ExprKind::list: {
      std::vector<Value> items;
      for (const ExprId child : expr.children) items.push_back(evaluate(child));
      return Value::of_list(std::move(items));
    }
    case ExprKind::unary: {
      const Value operand = evaluate(expr.children[0]);
      if (!ops_.failed()) error_at_ = expr.at;
      return unary_operation(ops_, expr.text, operand);
    }
    case ExprKind::ellipsis:
    case ExprKind::slice: fail(expr.at, "belongs inside an index"); return {};
    default: fail(expr.at, "expected an expression"); return {};
  }
}

Value Evaluator::apply_postfix(const Expr& expr, Value base) {
  if (expr.kind == ExprKind::index) return evaluate_index(expr, base);
  if (expr.kind == ExprKind::attribute) return evaluate_attribute(expr, base);
  const Value right = evaluate(expr.children[1]);
  if (ops_.failed()) return {};
  error_at_ = expr.at;
  return binary_operation(ops_, expr.text, base, right);
}

std::vector<std::string> Evaluator::known_names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : fixed_) names.push_back(name);
  for (const auto& [name, value] : variables_) names.push_back(name);
  return names;
}

Value Evaluator::evaluate_name(const Expr& expr) {
  if (const auto found = variables_.find(expr.text); found != variables_.end()) return found->second;
  if (const auto found = fixed_.find(expr.text); found != fixed_.end()) return found->second;
  if (const auto literal = literal_name(expr.text)) return *literal;
  const bool function = find_function(expr.text) != nullptr;
  fail(expr.at, function ? "'" + expr.text + "' is a function; call it: " + find_function(expr.text)->help.signature
                         : "unknown name '" + expr.text + "'" + did_you_mean(expr.text, known_names()));
  return {};
}

Value Evaluator::evaluate_call(const Expr& expr) {
  const Function* function = find_function(expr.text);
  if (function == nullptr) {
    fail(expr.at, "unknown function '" + expr.text + "'" + function_hint(expr.text));
    return {};
  }
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < expr.children.size() && !ops_.failed(); ++i)
    arguments.push_back({expr.keywords[i], evaluate(expr.children[i])});
  if (ops_.failed()) return {};
  Call call(ops_, expr.text, function->parameters);
  call.bind(std::move(arguments));
  Value value;
  if (!ops_.failed()) {
    if (function->row->composite) builder_.set_origin(expr.text + "#" + std::to_string(++occurrences_[expr.text]));
    value = function->row->formula(call);
    builder_.set_origin("");
  }
  if (ops_.failed()) {
    error_at_ = call.error_at() != 0 ? call.error_at() : expr.at;
    return {};
  }
  check_limits(value, expr.at);
  for (const auto& item : value.items) check_limits(item, expr.at);
  return value;
}

std::optional<Dim> Evaluator::evaluate_bound(ExprId id) {
  const Expr& expr = program_[id];
  if (expr.kind == ExprKind::absent) return std::nullopt;
  const Value value = evaluate(id);
  if (ops_.failed() || value.is_none()) return std::nullopt;
  if (value.kind == ValueKind::extent) return value.extent;
  fail(expr.at, "an index must be an integer, a slice, none or '...', not " + value.describe() + integer_hint(value));
  return std::nullopt;
}

Value Evaluator::evaluate_index(const Expr& expr, const Value& base) {
  std::vector<IndexItem> items;
  for (std::size_t i = 1; i < expr.children.size() && !ops_.failed(); ++i) {
    const Expr& child = program_[expr.children[i]];
    IndexItem item;
    if (child.kind == ExprKind::ellipsis) {
      item.kind = IndexItem::Kind::ellipsis;
    } else if (child.kind == ExprKind::slice) {
      item.start = evaluate_bound(child.children[0]);
      item.stop = evaluate_bound(child.children[1]);
      const auto step = evaluate_bound(child.children[2]);
      const bool valid =
          !step || (step->is_constant() && step->constant() != 0 && std::abs(step->constant()) < INT32_MAX);
      if (!valid) fail(child.at, "the step of a slice must be a constant integer other than 0");
      if (valid && step) item.step = step->constant();
    } else {
      item.start = evaluate_bound(expr.children[i]);
      item.kind = item.start ? IndexItem::Kind::position : IndexItem::Kind::new_axis;
    }
    items.push_back(std::move(item));
  }
  if (ops_.failed()) return {};
  error_at_ = expr.at;
  if (base.kind == ValueKind::tensor && base.indices && items.size() == 1 && items[0].kind == IndexItem::Kind::position)
    return part_of_pair(expr, base, *items[0].start);
  if (base.kind == ValueKind::tensor) return Value::of(index(base.tensor, items));
  if (base.kind == ValueKind::list && items.size() == 1) {
    const IndexItem& item = items[0];
    std::optional<Value> part;
    if (item.kind == IndexItem::Kind::position) part = list_item(base, *item.start);
    if (item.kind == IndexItem::Kind::slice && item.step == 1) part = list_slice(base, item.start, item.stop);
    if (part) return *part;
    fail(expr.at, "the index does not fit a list of " + std::to_string(base.items.size()));
    return {};
  }
  fail(expr.at, "only tensors and lists can be indexed, not " + base.describe());
  return {};
}

Value Evaluator::part_of_pair(const Expr& expr, const Value& base, const Dim& position) {
  const std::int64_t at = position.is_constant() ? position.constant() : 2;
  if (at == 0 || at == -2) return Value::of(base.tensor);
  if (at == 1 || at == -1) return base.indices();
  fail(expr.at, "[" + position.to_string() +
                    "] of a maximum or minimum along an axis: as in PyTorch [0] is the values and [1] the indices; to "
                    "index the values write [0][" +
                    position.to_string() + "], or use amax or amin");
  return {};
}

Value Evaluator::evaluate_attribute(const Expr& expr, const Value& base) {
  error_at_ = expr.at;
  if (base.indices && (expr.text == "values" || expr.text == "indices")) {
    if (base.kind == ValueKind::list) return base.items[expr.text == "values" ? 0 : 1];
    return expr.text == "values" ? Value::of(base.tensor) : base.indices();
  }
  if (base.kind != ValueKind::tensor) {
    fail(expr.at, "only tensors have attributes, not " + base.describe());
    return {};
  }
  const T x = base.tensor;
  if (expr.text == "shape") {
    std::vector<Value> extents;
    for (const auto& extent : x.shape()) extents.push_back(Value::of(extent));
    return Value::of_list(std::move(extents));
  }
  if (expr.text == "ndim") return Value::of(Dim(x.rank()));
  if (expr.text == "T" || expr.text == "mT") {
    if (x.rank() < 2 || (expr.text == "T" && x.rank() > 2)) {
      fail(expr.at, "." + expr.text + " needs a matrix, not shape " + to_string(x.shape()) +
                        (x.rank() > 2 ? "; use .mT or permute" : ""));
      return {};
    }
    std::vector<int> order;
    for (int d = 0; d < x.rank(); ++d) order.push_back(d);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return Value::of(ops_.transpose(x, order));
  }
  fail(expr.at, "unknown attribute '" + expr.text + "'" + did_you_mean(expr.text, {"shape", "ndim", "T", "mT"}));
  return {};
}

}  // namespace kerf::ir
