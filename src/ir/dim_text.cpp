#include <algorithm>

#include "ir/dim_node.hpp"

namespace kerf::detail {
namespace {

constexpr std::size_t kUnboundedC = std::size_t{1} << 40;  // sizes of C forms stop growing here

const char* infix(AtomOp op) {
  switch (op) {
    case AtomOp::floor_div: return " / ";
    case AtomOp::remainder: return " % ";
    case AtomOp::equal: return " == ";
    case AtomOp::not_equal: return " != ";
    case AtomOp::less: return " < ";
    case AtomOp::less_equal: return " <= ";
    case AtomOp::logical_and: return " && ";
    case AtomOp::logical_or: return " || ";
    default: return nullptr;
  }
}

bool stands_alone(const Dim& dim) {
  const auto& node = Dim::Node::of(dim);
  if (node.terms.empty()) return node.constant >= 0;
  const auto& first = node.terms[0];
  return node.terms.size() == 1 && node.constant == 0 && first.coefficient == 1 && first.factors.size() == 1 &&
         infix(first.factors[0]->op) == nullptr && first.factors[0]->op != AtomOp::group;
}

std::string operand(const Dim& dim) { return stands_alone(dim) ? dim.to_string() : "(" + dim.to_string() + ")"; }

std::string division_to_c(AtomOp op, const std::string& a, const std::string& b, bool non_negative) {
  if (op == AtomOp::remainder)
    return non_negative ? "(" + a + " % " + b + ")" : "((" + a + " % " + b + " + " + b + ") % " + b + ")";
  if (op == AtomOp::floor_div) {
    if (non_negative) return "(" + a + " / " + b + ")";
    return "(" + a + " >= 0 ? " + a + " / " + b + " : -((" + b + " - 1 - " + a + ") / " + b + "))";
  }
  if (non_negative) return "((" + a + " + " + b + " - 1) / " + b + ")";
  return "(" + a + " > 0 ? (" + a + " + " + b + " - 1) / " + b + " : -((0 - " + a + ") / " + b + "))";
}

std::string next_pow2_to_c(const std::string& value) {
  std::string text = "(";
  for (int bit = 0; bit < 62; ++bit) {
    const std::string power = std::to_string(std::int64_t{1} << bit);
    text += value + " <= " + power + " ? " + power + " : ";
  }
  return text + std::to_string(std::int64_t{1} << 62) + ")";
}

void append_term(std::string& text, std::int64_t coefficient, const std::string& factors) {
  const bool negative = coefficient < 0;
  text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
  // The magnitude as text, because -INT64_MIN is not an int64.
  const std::string magnitude = std::to_string(coefficient).substr(negative ? 1 : 0);
  if (factors.empty()) {
    text += magnitude;
  } else {
    text += magnitude == "1" ? factors : magnitude + "*" + factors;
  }
}

}  // namespace

bool is_non_negative(const Dim& dim) {
  const auto& node = Dim::Node::of(dim);
  return node.constant >= 0 && std::all_of(node.terms.begin(), node.terms.end(), [](const Term& term) {
           return term.coefficient >= 0 && std::all_of(term.factors.begin(), term.factors.end(),
                                                       [](const auto& factor) { return factor->non_negative; });
         });
}

void Atom::finish() {
  if (op == AtomOp::symbol) {
    text = name;
    c_size = name.size();
    non_negative = true;
    return;
  }
  if (op == AtomOp::group) {
    text = args[0].to_string();
    c_size = Dim::Node::of(args[0]).c_size + 2;
    non_negative = is_non_negative(args[0]);
    return;
  }
  const bool a = is_non_negative(args[0]), b = args.size() < 2 || is_non_negative(args[1]);
  const std::size_t a_size = Dim::Node::of(args[0]).c_size + 2;
  const std::size_t b_size = args.size() < 2 ? 0 : Dim::Node::of(args[1]).c_size + 2;
  c_size = 40 + (op == AtomOp::next_pow2                  ? 62 * (a_size + 48)
                 : op == AtomOp::min || op == AtomOp::max ? 2 * (a_size + b_size)
                 : a && b                                 ? a_size + 2 * b_size
                                                          : 4 * (a_size + b_size));
  c_size = std::min(c_size, kUnboundedC);
  switch (op) {
    case AtomOp::floor_div:
    case AtomOp::ceil_div:
    case AtomOp::min: non_negative = a && b; break;
    case AtomOp::max: non_negative = a || b; break;
    case AtomOp::remainder: non_negative = b; break;
    default: non_negative = true;
  }
  if (const char* symbol = infix(op)) {
    text = operand(args[0]) + symbol + operand(args[1]);
    return;
  }
  text = op == AtomOp::ceil_div    ? "ceil_div("
         : op == AtomOp::next_pow2 ? "next_pow2("
         : op == AtomOp::min       ? "min("
                                   : "max(";
  text += args[0].to_string() + (args.size() > 1 ? ", " + args[1].to_string() : "") + ")";
}

std::string Atom::in_product() const { return infix(op) == nullptr && op != AtomOp::group ? text : "(" + text + ")"; }

std::string Atom::to_c() const {
  if (op == AtomOp::symbol) return name;
  const std::string a = args[0].to_c();
  if (op == AtomOp::next_pow2) return next_pow2_to_c(a);
  if (op == AtomOp::group) return a;
  const std::string b = args[1].to_c();
  switch (op) {
    case AtomOp::floor_div:
    case AtomOp::ceil_div:
    case AtomOp::remainder: return division_to_c(op, a, b, is_non_negative(args[0]) && is_non_negative(args[1]));
    case AtomOp::min: return "(" + a + " < " + b + " ? " + a + " : " + b + ")";
    case AtomOp::max: return "(" + a + " > " + b + " ? " + a + " : " + b + ")";
    default: return "(" + a + infix(op) + b + ")";
  }
}

std::string polynomial_text(const Dim::Node& node, bool c) {
  std::string text;
  const bool sole = node.terms.size() == 1 && node.constant == 0;
  const auto append = [&](const Term& term) {
    std::string factors;
    for (const auto& factor : term.factors) {
      const bool alone = term.factors.size() == 1 && term.coefficient == 1;
      // "n / 4 + 1" needs no parentheses, but comparisons bind weaker than a sum.
      const bool bare = alone && (sole || factor->op == AtomOp::floor_div || factor->op == AtomOp::remainder);
      factors += (factors.empty() ? "" : "*") + (c ? factor->to_c() : bare ? factor->text : factor->in_product());
    }
    append_term(text, term.coefficient, factors);
  };
  for (const auto& term : node.terms)
    if (term.coefficient > 0) append(term);
  if (node.constant > 0 && text.empty() && !node.terms.empty()) append_term(text, node.constant, {});
  const bool constant_first = !text.empty() && std::none_of(node.terms.begin(), node.terms.end(),
                                                            [](const Term& term) { return term.coefficient > 0; });
  for (const auto& term : node.terms)
    if (term.coefficient < 0) append(term);
  if ((node.constant != 0 && !constant_first) || text.empty()) append_term(text, node.constant, {});
  return text;
}

std::size_t polynomial_c_size(const Dim::Node& node) {
  std::size_t size = 24;
  for (const auto& term : node.terms) {
    size += 24;
    for (const auto& factor : term.factors) size += factor->c_size + 1;
  }
  return std::min(size, kUnboundedC);
}

}  // namespace kerf::detail
