#pragma once
// A mind that proposes kernels. The builtin one (synth/) works on genomes; language models will join through the same
// seam.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/rng.hpp"
#include "model/candidate.hpp"
#include "model/evaluation.hpp"

namespace kerf {

/// A kernel that was evaluated before, as proposers see it. Borrowed for the call.
struct Ancestor {
  std::int64_t step = 0;  ///< its number in the run
  const Candidate* candidate = nullptr;
  const Evaluation* evaluation = nullptr;
  std::string genome;     ///< "" when it did not come from the builtin mind
  std::vector<int> cell;  ///< level per behaviour dimension; empty when it was not measured
};

/// Where the search would like the child to land, one step from its parent's cell.
struct Direction {
  int dimension = 0;  ///< index into the archive's dimensions
  int step = 0;       ///< -1, 0 (stay and improve) or +1
};

struct ProposalRequest {
  std::string operation;               ///< one of Proposer::operations()
  std::size_t start_number = 0;        ///< for "start": 0, 1, 2, ... until the proposer has no more
  std::optional<Ancestor> parent;      ///< none: start afresh
  std::vector<Ancestor> inspirations;  ///< partners for crossover, examples for a language model
  std::optional<Direction> direction;
  /// The cell a candidate would land in, guessed from its source alone; cheap. Empty: no guesses.
  std::function<std::vector<int>(const Candidate&)> foresee;
};

struct Proposal {
  Candidate candidate;                ///< its tunables' defaults are the proposed values
  std::string genome;                 ///< JSON; "" for minds without genomes
  std::vector<std::int64_t> parents;  ///< steps it descends from
  std::string change;                 ///< for people: "g0 BLOCK 128 -> 256"
};

/// Not thread-safe. Deterministic in (request, rng).
class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string_view name() const = 0;  ///< "builtin"; stored
  /// What it can be asked for, e.g. "start", "restart", "parameter", "family", "fusion", "crossover"; stored, never
  /// renamed. "start" and "restart" need no parent, "crossover" needs an inspiration.
  virtual std::vector<std::string> operations() const = 0;
  /// None when the operation finds nothing new to try here; an Error when the task cannot be covered at all.
  virtual Result<std::optional<Proposal>> propose(const ProposalRequest& request, Rng& rng) = 0;
};

}  // namespace kerf
