#pragma once
// The inside of a Dim, shared by those who must look at its parts; others use ir/dim.hpp.
//
// A Dim is a polynomial with integer coefficients over atoms: symbols, divisions, extremes, comparisons, and sums that
// are too long to multiply out. Terms are sorted by the text of their factors, so two equal polynomials have the same
// text, and the text decides equality.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/dim.hpp"

namespace kerf {
namespace detail {

enum class AtomOp {
  symbol,
  floor_div,
  ceil_div,
  remainder,
  min,
  max,
  next_pow2,
  equal,
  not_equal,
  less,
  less_equal,
  logical_and,
  logical_or,
  group  // a sum that stays together as a factor
};

struct Atom {
  AtomOp op = AtomOp::symbol;
  std::string name;        // of a symbol
  std::vector<Dim> args;   // one for next_pow2 and group, none for a symbol, else two
  std::string text;        // as to_string prints it when it stands alone
  std::size_t c_size = 0;  // upper bound of the length of its C form
  bool non_negative = false;

  void finish();                   // fills the last three from the first three
  std::string in_product() const;  // with parentheses unless it is a name or a call
  std::string to_c() const;
};

using Factors = std::vector<std::shared_ptr<const Atom>>;  // sorted by text

struct Term {
  std::int64_t coefficient = 0;
  Factors factors;
  std::string key;
};

std::string polynomial_text(const Dim::Node& node, bool c);
std::size_t polynomial_c_size(const Dim::Node& node);
bool is_non_negative(const Dim& dim);  // provably, when every symbol is
bool too_large(const Dim::Node& node);

}  // namespace detail

struct Dim::Node {
  std::vector<detail::Term> terms;
  std::int64_t constant = 0;
  const char* broken = nullptr;  // why the value does not exist (overflow, too large); it then spreads like a NaN
  std::string text;
  std::size_t c_size = 0;
  std::optional<detail::Term> product;  // the factors it was multiplied from, when some are sums

  static const Node& of(const Dim& dim) { return *dim.node_; }
  static const char* broken_of(const Dim& a, const Dim& b);
  static Dim broken_dim(const char* why);
  static Dim finish(std::shared_ptr<Node> node);     // fills the text; refuses what is too large
  static Dim unchecked(std::shared_ptr<Node> node);  // the same, of any size
  static Dim remember(const Dim& dim, detail::Term product);
  static Dim compare(detail::AtomOp op, const Dim& a, const Dim& b);
  static Dim logic(detail::AtomOp op, const Dim& a, const Dim& b);
  static Dim power_of_two(const Dim& a);
};

}  // namespace kerf
