#pragma once
// A genome of the builtin mind in words that mean something for other tasks too.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/dim.hpp"

namespace kerf::memory {

/// How one group of operators was computed.
struct RecipeGene {
  std::vector<std::string> operators;  ///< operator words of the group, sorted, with repeats
  std::string family, variant;         ///< "row", "passes"
  Bindings parameters;                 ///< without the group's prefix

  bool operator==(const RecipeGene&) const = default;
};

struct Recipe {
  std::string graph;   ///< structure_key of the graph that `genome` is about
  std::string genome;  ///< JSON as the mind wrote it, with the values that were measured
  std::vector<RecipeGene> genes;

  bool operator==(const Recipe&) const = default;
};

/// "pointwise/simd + row/passes": what kernels of one composition share, whatever their parameters.
std::string composition(const Recipe& recipe);
/// "row/passes LANES=64 STREAM=1".
std::string recipe_words(const Recipe& recipe);

/// Share of families, variants and parameters that two recipes have in common, in [0, 1].
double likeness(const Recipe& a, const Recipe& b);

std::string to_json(const Recipe& recipe);
/// Held to limits on counts and lengths: a record from elsewhere is not trusted.
Result<Recipe> recipe_from_json(std::string_view text);

}  // namespace kerf::memory
