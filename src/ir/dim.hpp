#pragma once
// Symbolic extents: integer expressions over shape symbols ("rows", "2*cols - 1", "ceil_div(n, BLOCK)").

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kerf {

/// Values of the shape symbols (and tunables) of one shape set.
using Bindings = std::map<std::string, std::int64_t, std::less<>>;

/// An immutable integer expression; cheap to copy. Constants fold, sums and products are put into one canonical
/// order, so equal polynomials compare equal. Division and remainder floor, as in Python.
class Dim {
 public:
  Dim() : Dim(0) {}
  Dim(std::int64_t value);  // NOLINT: a constant is a Dim
  static Dim symbol(std::string name);

  bool is_constant() const;
  std::int64_t constant() const;  ///< only when is_constant()
  bool is_one() const { return is_constant() && constant() == 1; }

  /// Value under `bindings`; an error names the unbound symbol or the division by zero. Overflow is an error.
  Result<std::int64_t> evaluate(const Bindings& bindings) const;

  /// C expression over the symbols, fully parenthesised where needed. Uses only + - * and, for non-negative operands,
  /// / and %; min and max as conditional expressions.
  std::string to_c() const;
  /// The same for people: "2*cols - 1", "ceil_div(n, 4)".
  std::string to_string() const;
  void collect_symbols(std::vector<std::string>& into) const;
  /// Everything it divides by, each before whatever contains it; constants are left out.
  void collect_divisors(std::vector<Dim>& into) const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim floor_div(const Dim& a, const Dim& b);
  friend Dim ceil_div(const Dim& a, const Dim& b);
  friend Dim remainder(const Dim& a, const Dim& b);
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);

  struct Node;

 private:
  explicit Dim(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;  // shared because expressions share subtrees; immutable, so thread-safe
};

using Shape = std::vector<Dim>;

/// Product of all extents; 1 for a scalar.
Dim element_count(const Shape& shape);
Result<std::vector<std::int64_t>> evaluate(const Shape& shape, const Bindings& bindings);
std::string to_string(const Shape& shape);  ///< "[rows, cols]"

/// Parses an integer expression: + - * / % ( ), names, integers, and the functions ceil_div, min, max, next_pow2.
/// '/' floors. Comparisons (== != < <= > >=) and && || yield 0 or 1, for `require:` lines. Errors give the column.
Result<Dim> parse_dim(std::string_view text);

}  // namespace kerf
