// Division of extents: what divides is taken out, chains of divisions become one.

#include <algorithm>
#include <numeric>

#include "ir/dim_sum.hpp"

namespace kerf {

using detail::Accumulator;
using detail::as_product;
using detail::Atom;
using detail::AtomOp;
using detail::Factors;
using detail::floor_quotient;
using detail::from_product;
using detail::make_atom;
using detail::Term;

std::int64_t detail::floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

std::optional<std::int64_t> detail::divide(AtomOp op, std::int64_t a, std::int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  const std::int64_t floor = floor_quotient(a, b);
  if (op == AtomOp::floor_div) return floor;
  if (op == AtomOp::ceil_div) return a % b != 0 ? floor + 1 : floor;
  return a - floor * b;
}

namespace {

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

/// a / b where b, factor by factor, divides a.
std::optional<Dim> exact_quotient(const Dim& a, const Dim& b) {
  if (b.is_constant() || a.is_constant()) return std::nullopt;
  const Term dividend = as_product(Dim::Node::of(a)), divisor = as_product(Dim::Node::of(b));
  auto rest = divide_factors(dividend.factors, divisor.factors);
  const bool overflows = dividend.coefficient == INT64_MIN && divisor.coefficient == -1;
  if (!rest || overflows || dividend.coefficient % divisor.coefficient != 0) return std::nullopt;
  return from_product({dividend.coefficient / divisor.coefficient, *std::move(rest), {}});
}

/// What is left of `a / b` once the terms that `b` divides are taken out: a = quotient * b + rest.
struct Split {
  Dim quotient, rest;
};

Split split_by(const Dim& a, const Dim& b) {
  if (const auto whole = exact_quotient(a, b)) return {*whole, 0};
  const auto& dividend = Dim::Node::of(a);
  const auto& divisor = Dim::Node::of(b);
  Accumulator quotient, rest;
  if (b.is_constant()) {
    const std::int64_t by = b.constant();
    for (const auto& term : dividend.terms) {
      const bool divides = term.coefficient % by == 0;
      if (divides) quotient.add(term.coefficient / by, term.factors);
      if (!divides) rest.add(term.coefficient, term.factors);
    }
    const std::int64_t whole = floor_quotient(dividend.constant, by);
    quotient.add(whole, {});
    rest.add(dividend.constant - whole * by, {});
    return {quotient.take(), rest.take()};
  }
  if (divisor.terms.size() != 1 || divisor.constant != 0) return {0, a};
  const Term& by = divisor.terms[0];
  for (const auto& term : dividend.terms) {
    const auto left = divide_factors(term.factors, by.factors);
    if (left && term.coefficient % by.coefficient == 0)
      quotient.add(term.coefficient / by.coefficient, *left);
    else
      rest.add(term.coefficient, term.factors);
  }
  rest.add(dividend.constant, {});
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
  for (const auto& term : node.terms) result.add(term.coefficient / by, term.factors);
  result.add(floor_quotient(node.constant, by), {});
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

/// Of a constant that is not positive: folded or left as it is.
Dim make_division(AtomOp op, const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant())
    if (const auto value = detail::divide(op, a.constant(), b.constant())) return *value;
  return make_atom(op, {a, b});
}

}  // namespace

Dim floor_div(const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  if (b.is_constant() && b.constant() <= 0) return make_division(AtomOp::floor_div, a, b);
  const Split split = split_by(a, b);
  if (split.rest == Dim(0)) return split.quotient;
  if (b.is_constant()) {
    const std::int64_t by = b.constant();
    if (split.rest.is_constant()) return split.quotient;  // the rest lies in [0, by)
    const std::int64_t common = common_coefficient(split.rest, by);
    if (common > 1) return split.quotient + floor_div(shrink(split.rest, common), Dim(by / common));
    if (const auto flat = flatten_division(split.rest, by)) return split.quotient + *flat;
    if (Dim::Node::of(split.rest).constant == by - 1)
      return split.quotient + make_atom(AtomOp::ceil_div, {split.rest - Dim(by - 1), b});
  }
  return split.quotient + make_atom(AtomOp::floor_div, {split.rest, b});
}

Dim ceil_div(const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  if (b.is_constant() && b.constant() > 0) return floor_div(a + b - Dim(1), b);  // one form for both roundings
  if (b.is_constant()) return make_division(AtomOp::ceil_div, a, b);
  const Split split = split_by(a, b);
  if (split.rest == Dim(0)) return split.quotient;
  return split.quotient + make_atom(AtomOp::ceil_div, {split.rest, b});
}

Dim remainder(const Dim& a, const Dim& b) {
  if (const auto* why = Dim::Node::broken_of(a, b)) return Dim::Node::broken_dim(why);
  if (b.is_constant() && b.constant() <= 0) return make_division(AtomOp::remainder, a, b);
  const Split split = split_by(a, b);
  if (split.rest == Dim(0)) return 0;
  if (split.rest.is_constant() && b.is_constant()) return split.rest;
  return make_atom(AtomOp::remainder, {split.rest, b});
}

}  // namespace kerf
