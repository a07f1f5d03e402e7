#pragma once
// A genome: which values are stored between kernels, and by which family, variant and parameters each of them is
// computed.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/dim.hpp"
#include "ir/graph.hpp"

namespace kerf::synth {

/// One kernel group: everything between the values it loads and the one value it stores.
struct Gene {
  ir::NodeId root = 0;  ///< the stored node, in the rewritten graph
  std::string family;   ///< "matmul"
  std::string variant;  ///< "tiled"
  Bindings parameters;  ///< tunables without the group's prefix: {"BM": 64}

  bool operator==(const Gene&) const = default;
};

struct Genome {
  int rewrite = 0;          ///< of the graph, see ir/analysis/algebra.hpp; 0: as written. Stored as "form"
  std::vector<Gene> genes;  ///< by root, in dependency order

  bool operator==(const Genome&) const = default;
};

/// `kernels`: for each gene the first one that is computed by the same kernels; empty: each by its own.
std::string to_json(const Genome& genome, const std::vector<std::size_t>& kernels = {});
Result<Genome> genome_from_json(std::string_view text);

/// The genome with the values it was evaluated with: tuning may have found better ones than it was born with. A tunable
/// is named by its group's prefix, whose number is the gene's: "G0_BM", or that of the gene whose kernels it shares.
Result<Genome> genome_with(std::string_view text, const Bindings& tunables);

}  // namespace kerf::synth
