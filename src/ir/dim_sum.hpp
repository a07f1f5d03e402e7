#pragma once
// Sums and products of extents, shared by the files of Dim; nobody else includes it.
//
// A product of sums is multiplied out while that stays short: (d - 2)*(h - 2) is d*h - 2*d - 2*h + 4. A longer one
// keeps its sums as factors ("group" atoms), or the number of elements of a convolution's output would grow with the
// product of the lengths of its extents.

#include <map>
#include <string>
#include <vector>

#include "ir/dim_node.hpp"

namespace kerf::detail {

inline constexpr const char* kTooLarge = "the extent expression is too large";
inline constexpr const char* kOverflow = "integer overflow in an extent";

std::int64_t floor_quotient(std::int64_t a, std::int64_t b);
/// Nothing for a division by zero or a quotient that does not fit.
std::optional<std::int64_t> divide(AtomOp op, std::int64_t a, std::int64_t b);

/// The text that terms are sorted by and told apart with.
std::string factors_key(const Factors& factors);
void sort_factors(Factors& factors);

/// Sums up terms; keeps them sorted by key and drops the zero ones. Short products of sums are multiplied out.
class Accumulator {
 public:
  void add(std::int64_t coefficient, const Factors& factors);
  /// Adds `node` times `scale`.
  void add(const Dim::Node& node, std::int64_t scale);
  std::int64_t times(std::int64_t a, std::int64_t b);  ///< an overflow breaks the whole sum
  Dim take();

 private:
  void multiply_out(std::int64_t coefficient, const Factors& factors);

  std::map<std::string, Term> terms_;
  std::int64_t constant_ = 0;
  bool broken_ = false;
};

/// The node as one product: of what it was made from, or of its common factors and the sum that is left.
Term as_product(const Dim::Node& node);
/// a * b as one product; nothing on overflow.
std::optional<Term> product_of(const Term& a, const Term& b);
/// The extent that a product stands for; it remembers its factors.
Dim from_product(Term term);

Dim make_atom(AtomOp op, std::vector<Dim> args, std::string name = {});

}  // namespace kerf::detail
