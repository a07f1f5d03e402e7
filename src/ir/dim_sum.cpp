#include "ir/dim_sum.hpp"

#include <algorithm>
#include <numeric>

namespace kerf::detail {
namespace {

constexpr std::size_t kMaxText = 4096;     // characters of one extent; beyond that it is refused
constexpr std::size_t kMostSummands = 4;   // of a product of sums that is multiplied out
constexpr std::size_t kMostFactors = 256;  // of one product

std::size_t summands(const Dim::Node& node) { return node.terms.size() + (node.constant != 0 ? 1 : 0); }

bool has_group(const Factors& factors) {
  return std::any_of(factors.begin(), factors.end(), [](const auto& f) { return f->op == AtomOp::group; });
}

/// How many summands multiplying out would give, before any cancel.
std::size_t expanded_size(const Factors& factors) {
  std::size_t size = 1;
  for (const auto& factor : factors) {
    if (factor->op != AtomOp::group) continue;
    size *= summands(Dim::Node::of(factor->args[0]));
    if (size > kMostSummands) return size;
  }
  return size;
}

/// The factors that every term of the node has.
Factors common_factors(const Dim::Node& node) {
  if (node.constant != 0 || node.terms.empty()) return {};
  Factors common;
  std::vector<Factors> rest;
  for (const Term& term : node.terms) rest.push_back(term.factors);
  for (const auto& factor : node.terms[0].factors) {
    std::vector<Factors::iterator> places;
    for (Factors& factors : rest) {
      const auto found =
          std::find_if(factors.begin(), factors.end(), [&](const auto& f) { return f->text == factor->text; });
      if (found == factors.end()) break;
      places.push_back(found);
    }
    if (places.size() != rest.size()) continue;
    common.push_back(factor);
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i].erase(places[i]);
  }
  return common;
}

/// The greatest common divisor of all coefficients, negative when all of them are.
std::int64_t common_divisor(const Dim::Node& node) {
  std::int64_t divisor = 0;
  bool negative = node.constant <= 0;
  const auto take = [&](std::int64_t value) { divisor = std::gcd(divisor, value == INT64_MIN ? 1 : value); };
  for (const Term& term : node.terms) {
    take(term.coefficient);
    negative = negative && term.coefficient < 0;
  }
  take(node.constant);
  return negative ? -divisor : divisor;
}

Factors without(Factors from, const Factors& by) {
  for (const auto& factor : by)
    from.erase(std::find_if(from.begin(), from.end(), [&](const auto& f) { return f->text == factor->text; }));
  return from;
}

}  // namespace

std::string factors_key(const Factors& factors) {
  std::string key;
  for (const auto& factor : factors) {
    if (!key.empty()) key += '*';
    key += factor->in_product();
  }
  return key;
}

void sort_factors(Factors& factors) {
  std::sort(factors.begin(), factors.end(), [](const auto& x, const auto& y) { return x->text < y->text; });
}

void Accumulator::add(std::int64_t coefficient, const Factors& factors) {
  if (coefficient == 0) return;
  if (factors.empty()) {
    broken_ |= __builtin_add_overflow(constant_, coefficient, &constant_);
    return;
  }
  const bool alone = factors.size() == 1 && factors[0]->op == AtomOp::group;
  if (alone || (has_group(factors) && expanded_size(factors) <= kMostSummands))
    return multiply_out(coefficient, factors);
  std::string key = factors_key(factors);
  auto [place, inserted] = terms_.try_emplace(key, Term{0, factors, key});
  broken_ |= __builtin_add_overflow(place->second.coefficient, coefficient, &place->second.coefficient);
  if (place->second.coefficient == 0) terms_.erase(place);
}

void Accumulator::multiply_out(std::int64_t coefficient, const Factors& factors) {
  std::vector<Term> products{{coefficient, {}, {}}};
  for (const auto& factor : factors) {
    if (factor->op != AtomOp::group) {
      for (Term& product : products) product.factors.push_back(factor);
      continue;
    }
    const auto& sum = Dim::Node::of(factor->args[0]);
    std::vector<Term> longer;
    for (const Term& product : products) {
      for (const Term& term : sum.terms) {
        Term next{times(product.coefficient, term.coefficient), product.factors, {}};
        next.factors.insert(next.factors.end(), term.factors.begin(), term.factors.end());
        longer.push_back(std::move(next));
      }
      if (sum.constant != 0) longer.push_back({times(product.coefficient, sum.constant), product.factors, {}});
    }
    products = std::move(longer);
  }
  for (Term& product : products) {
    sort_factors(product.factors);
    add(product.coefficient, product.factors);
  }
}

void Accumulator::add(const Dim::Node& node, std::int64_t scale) {
  for (const auto& term : node.terms) add(times(term.coefficient, scale), term.factors);
  add(times(node.constant, scale), {});
}

std::int64_t Accumulator::times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  broken_ |= __builtin_mul_overflow(a, b, &product);
  return product;
}

Dim Accumulator::take() {
  if (broken_) return Dim::Node::broken_dim(kOverflow);
  auto node = std::make_shared<Dim::Node>();
  node->constant = constant_;
  for (auto& [key, term] : terms_) node->terms.push_back(std::move(term));
  return Dim::Node::finish(std::move(node));
}

Term as_product(const Dim::Node& node) {
  if (node.product) return *node.product;
  if (node.terms.empty()) return {node.constant, {}, {}};
  if (summands(node) == 1) return node.terms[0];
  Term term{common_divisor(node), common_factors(node), {}};
  Accumulator rest;
  for (const Term& part : node.terms)
    rest.add(part.coefficient / term.coefficient, without(part.factors, term.factors));
  rest.add(node.constant / term.coefficient, {});
  const Dim group = make_atom(AtomOp::group, {rest.take()});
  term.factors.push_back(Dim::Node::of(group).terms[0].factors[0]);
  sort_factors(term.factors);
  return term;
}

std::optional<Term> product_of(const Term& a, const Term& b) {
  Term term{0, a.factors, {}};
  if (__builtin_mul_overflow(a.coefficient, b.coefficient, &term.coefficient)) return std::nullopt;
  term.factors.insert(term.factors.end(), b.factors.begin(), b.factors.end());
  sort_factors(term.factors);
  return term;
}

Dim from_product(Term term) {
  if (term.factors.size() > kMostFactors) return Dim::Node::broken_dim(kTooLarge);
  Accumulator sum;
  sum.add(term.coefficient, term.factors);
  Dim result = sum.take();
  if (term.coefficient == 0 || !has_group(term.factors)) return result;
  return Dim::Node::remember(result, std::move(term));
}

Dim make_atom(AtomOp op, std::vector<Dim> args, std::string name) {
  auto atom = std::make_shared<Atom>();
  atom->op = op;
  atom->name = std::move(name);
  atom->args = std::move(args);
  atom->finish();
  if (op != AtomOp::group && atom->text.size() > kMaxText) return Dim::Node::broken_dim(kTooLarge);
  auto node = std::make_shared<Dim::Node>();
  std::string key = atom->in_product();
  node->terms.push_back(Term{1, {std::move(atom)}, std::move(key)});
  return op == AtomOp::group ? Dim::Node::unchecked(std::move(node)) : Dim::Node::finish(std::move(node));
}

bool too_large(const Dim::Node& node) { return node.text.size() > kMaxText; }

}  // namespace kerf::detail
