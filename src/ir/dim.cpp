#include "ir/dim.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ir/dim_node.hpp"

namespace kerf {
namespace {

using detail::Atom;
using detail::AtomOp;
using detail::Factors;
using detail::Term;

constexpr std::size_t kMaxText = 4096;    // characters of one extent; beyond that it is refused
constexpr std::size_t kMaxCText = 65536;  // the same for its C form, where min and max repeat their arguments
constexpr const char* kTooLarge = "the extent expression is too large";
constexpr const char* kOverflow = "integer overflow in an extent";

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

/// Nothing for a division by zero or a quotient that does not fit.
std::optional<std::int64_t> divide(AtomOp op, std::int64_t a, std::int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  const std::int64_t floor = floor_quotient(a, b);
  if (op == AtomOp::floor_div) return floor;
  if (op == AtomOp::ceil_div) return a % b != 0 ? floor + 1 : floor;
  return a - floor * b;
}

std::int64_t next_pow2(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value && power < (std::int64_t{1} << 62)) power *= 2;
  return power;
}

std::optional<std::int64_t> apply(AtomOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case AtomOp::floor_div:
    case AtomOp::ceil_div:
    case AtomOp::remainder: return divide(op, a, b);
    case AtomOp::min: return std::min(a, b);
    case AtomOp::max: return std::max(a, b);
    case AtomOp::next_pow2: return next_pow2(a);
    case AtomOp::equal: return a == b;
    case AtomOp::not_equal: return a != b;
    case AtomOp::less: return a < b;
    case AtomOp::less_equal: return a <= b;
    case AtomOp::logical_and: return (a != 0 && b != 0);
    case AtomOp::logical_or: return (a != 0 || b != 0);
    case AtomOp::symbol: break;
  }
  return std::nullopt;
}

std::string factors_key(const Factors& factors) {
  std::string key;
  for (const auto& factor : factors) {
    if (!key.empty()) key += '*';
    key += factor->in_product();
  }
  return key;
}

/// `from` without the factors of `by`, or nothing when `by` does not divide it.
std::optional<Factors> divide_factors(const Factors& from, const Factors& by) {
  Factors rest = from;
  for (const auto& factor : by) {
    const auto found =
        std::find_if(rest.begin(), rest.end(), [&](const auto& other) { return other->text == factor->text; });
    if (found == rest.end()) return std::nullopt;
    rest.erase(found);
  }
  return rest;
}

/// Sums up polynomials; keeps terms sorted by key and drops the zero ones.
class Accumulator {
 public:
  void add(std::int64_t coefficient, const Factors& factors, const std::string& key) {
    if (factors.empty()) {
      broken_ |= __builtin_add_overflow(constant_, coefficient, &constant_);
      return;
    }
    auto [place, inserted] = terms_.try_emplace(key, Term{0, factors, key});
    broken_ |= __builtin_add_overflow(place->second.coefficient, coefficient, &place->second.coefficient);
    if (place->second.coefficient == 0) terms_.erase(place);
  }
  /// Adds `node` times `scale`.
  void add(const Dim::Node& node, std::int64_t scale) {
    for (const auto& term : node.terms) add(times(term.coefficient, scale), term.factors, term.key);
    add(times(node.constant, scale), {}, {});
  }
  std::int64_t times(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    broken_ |= __builtin_mul_overflow(a, b, &product);
    return product;
  }
  Dim take() {
    if (broken_) return Dim::Node::broken_dim(kOverflow);
    auto node = std::make_shared<Dim::Node>();
    node->constant = constant_;
    for (auto& [key, term] : terms_) node->terms.push_back(std::move(term));
    return Dim::Node::finish(std::move(node));
  }

 private:
  std::map<std::string, Term> terms_;
  std::int64_t constant_ = 0;
  bool broken_ = false;
};

Dim make_atom(AtomOp op, std::vector<Dim> args, std::string name = {}) {
  auto atom = std::make_shared<Atom>();
  atom->op = op;
  atom->name = std::move(name);
  atom->args = std::move(args);
  atom->finish();
  if (atom->text.size() > kMaxText || atom->c_size > kMaxCText) return Dim::Node::broken_dim(kTooLarge);
  auto node = std::make_shared<Dim::Node>();
  std::string key = atom->in_product();
  node->terms.push_back(Term{1, {std::move(atom)}, std::move(key)});
  return Dim::Node::finish(std::move(node));
}

/// What is left of `a / b` once the terms that `b` divides are taken out: a = quotient * b + rest.
struct Split {
  Dim quotient, rest;
};

Split split_by(const Dim& a, const Dim& b) {
  const auto& dividend = Dim::Node::of(a);
  const auto& divisor = Dim::Node::of(b);
  Accumulator quotient, rest;
  if (b.is_constant()) {
    const std::int64_t by = b.constant();
    for (const auto& term : dividend.terms) {
      const bool divides = term.coefficient % by == 0;
      if (divides) quotient.add(term.coefficient / by, term.factors, term.key);
      if (!divides) rest.add(term.coefficient, term.factors, term.key);
    }
    const std::int64_t whole = floor_quotient(dividend.constant, by);
    quotient.add(whole, {}, {});
    rest.add(dividend.constant - whole * by, {}, {});
    return {quotient.take(), rest.take()};
  }
  if (divisor.terms.size() != 1 || divisor.constant != 0) return {a == b ? Dim(1) : Dim(0), a == b ? Dim(0) : a};
  const Term& by = divisor.terms[0];
  for (const auto& term : dividend.terms) {
    const auto left = divide_factors(term.factors, by.factors);
    if (left && term.coefficient % by.coefficient == 0)
      quotient.add(term.coefficient / by.coefficient, *left, factors_key(*left));
    else
      rest.add(term.coefficient, term.factors, term.key);
  }
  rest.add(dividend.constant, {}, {});
  return {quotient.take(), rest.take()};
}

/// The greatest common divisor of the coefficients and `start`; constants are left out.
std::int64_t common_coefficient(const Dim& dim, std::int64_t start) {
  std::int64_t divisor = start;
  for (const auto& term : Dim::Node::of(dim).terms)
    divisor = std::gcd(divisor, term.coefficient == INT64_MIN ? 1 : term.coefficient);
  return divisor;
}

/// floor(dim / by), where `by` divides every coefficient, though perhaps not the constant.
Dim shrink(const Dim& dim, std::int64_t by) {
  const auto& node = Dim::Node::of(dim);
  Accumulator result;
  for (const auto& term : node.terms) result.add(term.coefficient / by, term.factors, term.key);
  result.add(floor_quotient(node.constant, by), {}, {});
  return result.take();
}

/// floor((floor(a/b) + c) / d) = floor((a + b*c) / (b*d)), so that a chain of strided windows stays one division.
std::optional<Dim> flatten_division(const Dim& dividend, std::int64_t divisor) {
  const auto& node = Dim::Node::of(dividend);
  if (node.terms.size() != 1 || node.terms[0].coefficient != 1 || node.terms[0].factors.size() != 1)
    return std::nullopt;
  const Atom& atom = *node.terms[0].factors[0];
  if (atom.op != AtomOp::floor_div && atom.op != AtomOp::ceil_div) return std::nullopt;
  if (!atom.args[1].is_constant() || atom.args[1].constant() <= 0) return std::nullopt;
  const Dim inner = atom.args[1];
  const Dim lifted = atom.op == AtomOp::ceil_div ? atom.args[0] + inner - Dim(1) : atom.args[0];
  return floor_div(lifted + inner * Dim(node.constant), inner * Dim(divisor));
}

Dim fold_binary(AtomOp op, const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  if (a.is_constant() && b.is_constant())
    if (const auto value = apply(op, a.constant(), b.constant())) return *value;
  return make_atom(op, {a, b});
}

Dim fold_extreme(AtomOp op, const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  const Dim difference = a - b;
  if (difference.is_constant()) return (difference.constant() < 0) == (op == AtomOp::min) ? a : b;
  const bool ordered = Dim::Node::of(a).text < Dim::Node::of(b).text;
  return make_atom(op, ordered ? std::vector{a, b} : std::vector{b, a});
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

Dim Dim::Node::finish(std::shared_ptr<Node> node) {
  node->text = detail::polynomial_text(*node, false);
  node->c_size = detail::polynomial_c_size(*node);
  if (node->text.size() > kMaxText || node->c_size > kMaxCText) return broken_dim(kTooLarge);
  return Dim(std::move(node));
}

Dim Dim::Node::compare(AtomOp op, const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (of(difference).broken == nullptr && difference.is_constant())
    if (const auto value = apply(op, difference.constant(), 0)) return *value;
  return fold_binary(op, a, b);
}

Dim Dim::Node::logic(AtomOp op, const Dim& a, const Dim& b) { return fold_binary(op, a, b); }

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
  if (a.node_->terms.size() * b.node_->terms.size() > 1024) return Dim::Node::broken_dim(kTooLarge);
  Accumulator sum;
  for (const auto& left : a.node_->terms) {
    for (const auto& right : b.node_->terms) {
      Factors factors = left.factors;
      factors.insert(factors.end(), right.factors.begin(), right.factors.end());
      std::sort(factors.begin(), factors.end(), [](const auto& x, const auto& y) { return x->text < y->text; });
      sum.add(sum.times(left.coefficient, right.coefficient), factors, factors_key(factors));
    }
    sum.add(sum.times(left.coefficient, b.node_->constant), left.factors, left.key);
  }
  sum.add(*b.node_, a.node_->constant);
  return sum.take();
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  if (b.is_constant() && b.constant() <= 0) return fold_binary(AtomOp::floor_div, a, b);
  const Split split = split_by(a, b);
  if (split.rest == Dim(0)) return split.quotient;
  if (b.is_constant()) {
    const std::int64_t by = b.constant();
    if (split.rest.is_constant()) return split.quotient;  // the rest lies in [0, by)
    const std::int64_t common = common_coefficient(split.rest, by);
    if (common > 1) return split.quotient + floor_div(shrink(split.rest, common), Dim(by / common));
    if (const auto flat = flatten_division(split.rest, by)) return split.quotient + *flat;
    if (split.rest.node_->constant == by - 1)
      return split.quotient + make_atom(AtomOp::ceil_div, {split.rest - Dim(by - 1), b});
  }
  return split.quotient + make_atom(AtomOp::floor_div, {split.rest, b});
}

Dim ceil_div(const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  if (b.is_constant() && b.constant() > 0) return floor_div(a + b - Dim(1), b);  // one form for both roundings
  if (b.is_constant()) return fold_binary(AtomOp::ceil_div, a, b);
  const Split split = split_by(a, b);
  if (split.rest == Dim(0)) return split.quotient;
  return split.quotient + make_atom(AtomOp::ceil_div, {split.rest, b});
}

Dim remainder(const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  if (b.is_constant() && b.constant() <= 0) return fold_binary(AtomOp::remainder, a, b);
  const Split split = split_by(a, b);
  if (split.rest == Dim(0)) return 0;
  if (split.rest.is_constant() && b.is_constant()) return split.rest;
  return make_atom(AtomOp::remainder, {split.rest, b});
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
  if (node_->broken != nullptr) return "(1 / 0)";  // never compiles silently
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
