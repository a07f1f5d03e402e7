#pragma once
// Genomes across tasks: what a kernel of one task was made of, and the nearest to it that another task has.

#include <optional>

#include "memory/recipe.hpp"
#include "propose/synth/genome.hpp"
#include "propose/synth/space.hpp"

namespace kerf::synth {

/// The genome in words that do not depend on node numbers; none when it does not fit the space.
std::optional<memory::Recipe> recipe_of(const Genome& genome, Space& space);

/// Genomes of this space that are computed as the recipe says, as far as they can be, best first: the recipe's own
/// genome where the graph has the same structure, then those layouts whose groups are most like the recipe's, each
/// group with the variant of the gene it is most like and with the nearest parameters that are allowed. Not all of
/// them can be written.
std::vector<Genome> adapt(const memory::Recipe& recipe, Space& space);

}  // namespace kerf::synth
