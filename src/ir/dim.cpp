#include "ir/dim.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/dim_sum.hpp"

namespace kerf {
namespace {

constexpr std::size_t kMaxCText = 1 << 18;  // characters of a C form, in which divisions and extremes repeat arguments

using detail::Accumulator;
using detail::Atom;
using detail::AtomOp;
using detail::kOverflow;
using detail::kTooLarge;
using detail::make_atom;

std::int64_t next_pow2(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value && power < (std::int64_t{1} << 62)) power *= 2;
  return power;
}

std::optional<std::int64_t> apply(AtomOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case AtomOp::floor_div:
    case AtomOp::ceil_div:
    case AtomOp::remainder: return detail::divide(op, a, b);
    case AtomOp::min: return std::min(a, b);
    case AtomOp::max: return std::max(a, b);
    case AtomOp::next_pow2: return next_pow2(a);
    case AtomOp::equal: return a == b;
    case AtomOp::not_equal: return a != b;
    case AtomOp::less: return a < b;
    case AtomOp::less_equal: return a <= b;
    case AtomOp::logical_and: return (a != 0 && b != 0);
    case AtomOp::logical_or: return (a != 0 || b != 0);
    case AtomOp::group: return a;
    case AtomOp::symbol: break;
  }
  return std::nullopt;
}

Dim fold_binary(AtomOp op, const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  if (a.is_constant() && b.is_constant())
    if (const auto value = apply(op, a.constant(), b.constant())) return *value;
  return make_atom(op, {a, b});
}

/// The atom that is all of `dim`, when that is a minimum or maximum as asked for; else nothing.
const Atom* extreme_of(AtomOp op, const Dim& dim) {
  const auto& node = Dim::Node::of(dim);
  if (node.constant != 0 || node.terms.size() != 1) return nullptr;
  const auto& term = node.terms.front();
  const bool alone = term.coefficient == 1 && term.factors.size() == 1 && term.factors.front()->op == op;
  return alone ? term.factors.front().get() : nullptr;
}

bool differ_by_a_number(const Dim& a, const Dim& b) {
  const auto &left = Dim::Node::of(a), &right = Dim::Node::of(b);
  return left.broken == nullptr && right.broken == nullptr &&
         std::ranges::equal(left.terms, right.terms, [](const detail::Term& x, const detail::Term& y) {
           return x.coefficient == y.coefficient && x.key == y.key;
         });
}

/// What `dim` is the minimum or maximum of, each once.
void collect_choices(AtomOp op, const Dim& dim, std::vector<Dim>& into) {
  if (const Atom* atom = extreme_of(op, dim)) {
    for (const Dim& arg : atom->args) collect_choices(op, arg, into);
    return;
  }
  for (Dim& known : into) {
    if (!differ_by_a_number(dim, known)) continue;
    if ((Dim::Node::of(dim).constant < Dim::Node::of(known).constant) == (op == AtomOp::min)) known = dim;
    return;
  }
  into.push_back(dim);
}

/// As a balanced tree: a C form repeats its arguments, so that a chain of choices would double it with each.
Dim tree_of(AtomOp op, const std::vector<Dim>& choices, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return choices[begin];
  const std::size_t middle = begin + (end - begin + 1) / 2;
  Dim left = tree_of(op, choices, begin, middle), right = tree_of(op, choices, middle, end);
  if (const auto* why = Dim::Node::broken_of(left, right)) return Dim::Node::broken_dim(why);
  return make_atom(op, {std::move(left), std::move(right)});
}

Dim fold_extreme(AtomOp op, const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  std::vector<Dim> choices;
  collect_choices(op, a, choices);
  const std::vector<Dim> before = choices;
  collect_choices(op, b, choices);
  if (choices == before) return a;  // nothing new
  for (const Dim& choice : choices)
    if (const auto* why = Dim::Node::broken_of(choice, choice)) return Dim::Node::broken_dim(why);
  std::ranges::sort(choices, {}, [](const Dim& dim) { return std::string_view(Dim::Node::of(dim).text); });
  return tree_of(op, choices, 0, choices.size());
}

}  // namespace

const char* Dim::Node::broken_of(const Dim& a, const Dim& b) {
  if (of(a).broken != nullptr) return of(a).broken;
  return of(b).broken;
}

Dim Dim::Node::broken_dim(const char* why) {
  auto node = std::make_shared<Node>();
  node->broken = why;
  node->text = "<invalid>";
  return Dim(std::move(node));
}

Dim Dim::Node::unchecked(std::shared_ptr<Node> node) {
  node->text = detail::polynomial_text(*node, false);
  node->c_size = detail::polynomial_c_size(*node);
  return Dim(std::move(node));
}

Dim Dim::Node::finish(std::shared_ptr<Node> node) {
  const Dim dim = unchecked(std::move(node));
  return detail::too_large(of(dim)) ? broken_dim(kTooLarge) : dim;
}

Dim Dim::Node::remember(const Dim& dim, detail::Term product) {
  if (of(dim).broken != nullptr) return dim;
  auto node = std::make_shared<Node>(of(dim));
  node->product = std::move(product);
  return Dim(std::move(node));
}

Dim Dim::Node::compare(AtomOp op, const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (of(difference).broken == nullptr && difference.is_constant())
    if (const auto value = apply(op, difference.constant(), 0)) return *value;
  return fold_binary(op, a, b);
}

Dim Dim::Node::logic(AtomOp op, const Dim& a, const Dim& b) {
  const bool decided = a.is_constant() && (a.constant() != 0) == (op == AtomOp::logical_or);
  if (decided && of(b).broken == nullptr) return Dim(op == AtomOp::logical_or ? 1 : 0);
  return fold_binary(op, a, b);
}

Dim Dim::Node::power_of_two(const Dim& a) {
  if (of(a).broken != nullptr) return a;
  return a.is_constant() ? Dim(next_pow2(a.constant())) : make_atom(AtomOp::next_pow2, {a});
}

Dim::Dim(std::int64_t value) {
  auto node = std::make_shared<Node>();
  node->constant = value;
  node->text = std::to_string(value);
  node->c_size = node->text.size();
  node_ = std::move(node);
}

Dim Dim::symbol(std::string name) { return make_atom(AtomOp::symbol, {}, std::move(name)); }

bool Dim::is_constant() const { return node_->terms.empty() && node_->broken == nullptr; }
std::int64_t Dim::constant() const {
  KERF_CHECK(is_constant(), "constant() of a symbolic extent");
  return node_->constant;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  Accumulator sum;
  sum.add(*a.node_, 1);
  sum.add(*b.node_, 1);
  return sum.take();
}

Dim operator-(const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  Accumulator sum;
  sum.add(*a.node_, 1);
  sum.add(*b.node_, -1);
  return sum.take();
}

Dim operator*(const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  if (a.is_one() || b.is_one()) return a.is_one() ? b : a;
  auto product = detail::product_of(detail::as_product(*a.node_), detail::as_product(*b.node_));
  return product ? detail::from_product(*std::move(product)) : Dim::Node::broken_dim(kOverflow);
}

Dim min(const Dim& a, const Dim& b) { return fold_extreme(AtomOp::min, a, b); }
Dim max(const Dim& a, const Dim& b) { return fold_extreme(AtomOp::max, a, b); }

bool operator==(const Dim& a, const Dim& b) {
  return a.node_ == b.node_ || (a.node_->text == b.node_->text && a.node_->broken == nullptr);
}

namespace {

Result<std::int64_t> evaluate_atom(const Atom& atom, const Bindings& bindings) {
  if (atom.op == AtomOp::symbol) {
    const auto found = bindings.find(atom.name);
    if (found == bindings.end()) return fail(Errc::invalid_input, "the shape symbol '" + atom.name + "' has no value");
    return found->second;
  }
  KERF_TRY(const std::int64_t a, atom.args[0].evaluate(bindings));
  if (atom.op == AtomOp::logical_and && a == 0) return 0;  // so that `B > 0 && n % B == 0` can guard
  if (atom.op == AtomOp::logical_or && a != 0) return 1;
  std::int64_t b = 0;
  if (atom.args.size() > 1) {
    KERF_TRY(b, atom.args[1].evaluate(bindings));
  }
  if (atom.op == AtomOp::next_pow2 && a > (std::int64_t{1} << 62)) return fail(Errc::invalid_input, kOverflow);
  if (const auto value = apply(atom.op, a, b)) return *value;
  return fail(Errc::invalid_input, "division by zero in " + atom.text);
}

}  // namespace

Result<std::int64_t> Dim::evaluate(const Bindings& bindings) const {
  if (node_->broken != nullptr) return fail(Errc::invalid_input, node_->broken);
  std::int64_t sum = node_->constant;
  for (const auto& term : node_->terms) {
    std::int64_t product = term.coefficient;
    for (const auto& factor : term.factors) {
      KERF_TRY(const std::int64_t value, evaluate_atom(*factor, bindings));
      if (__builtin_mul_overflow(product, value, &product))
        return fail(Errc::invalid_input, std::string(kOverflow) + " (" + node_->text + ")");
    }
    if (__builtin_add_overflow(sum, product, &sum))
      return fail(Errc::invalid_input, std::string(kOverflow) + " (" + node_->text + ")");
  }
  return sum;
}

std::string Dim::to_c() const {
  if (node_->broken != nullptr || node_->c_size > kMaxCText) return "(1 / 0)";  // never compiles silently
  const bool single = node_->terms.size() == 1 && node_->constant == 0 && node_->terms[0].coefficient == 1 &&
                      node_->terms[0].factors.size() == 1;
  if (single) return node_->terms[0].factors[0]->to_c();
  const std::string text = detail::polynomial_text(*node_, true);
  return node_->terms.empty() && node_->constant >= 0 ? text : "(" + text + ")";
}

std::string Dim::to_string() const { return node_->text; }

void Dim::collect_symbols(std::vector<std::string>& into) const {
  for (const auto& term : node_->terms) {
    for (const auto& factor : term.factors) {
      if (factor->op == AtomOp::symbol && std::find(into.begin(), into.end(), factor->name) == into.end())
        into.push_back(factor->name);
      for (const auto& arg : factor->args) arg.collect_symbols(into);
    }
  }
}

void Dim::collect_divisors(std::vector<Dim>& into) const {
  for (const auto& term : node_->terms) {
    for (const auto& factor : term.factors) {
      for (const auto& arg : factor->args) arg.collect_divisors(into);
      const bool divides =
          factor->op == AtomOp::floor_div || factor->op == AtomOp::ceil_div || factor->op == AtomOp::remainder;
      if (divides && !factor->args[1].is_constant() &&
          std::find(into.begin(), into.end(), factor->args[1]) == into.end())
        into.push_back(factor->args[1]);
    }
  }
}

Dim element_count(const Shape& shape) {
  Dim count = 1;
  for (const auto& extent : shape) count = count * extent;
  return count;
}

Result<std::vector<std::int64_t>> evaluate(const Shape& shape, const Bindings& bindings) {
  std::vector<std::int64_t> extents;
  for (const auto& extent : shape) {
    KERF_TRY(const std::int64_t value, extent.evaluate(bindings));
    extents.push_back(value);
  }
  return extents;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + shape[i].to_string();
  return text + "]";
}

}  // namespace kerf
