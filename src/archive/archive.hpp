#pragma once
// The archive: the best few kernels of every behaviour cell, replaced only when the difference is beyond the noise.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inspect/cell.hpp"
#include "model/evaluation.hpp"

namespace kerf {

/// How good an evaluation is: first how far it came, then how fast. Ordered by (rung, log_speedup).
struct Fitness {
  int rung = 0;  ///< rejected 0, build failed 1, crashed 2, timed out 3, wrong result 4, measured 5
  double log_speedup =
      0;  ///< against the strongest baseline (by way of a comparison if there was one); 0 unless measured
  double below = 0, above = 0;  ///< distance to the ends of its 95 % interval, both >= 0

  bool measured() const;
  friend bool operator<(const Fitness& a, const Fitness& b) {
    return a.rung != b.rung ? a.rung < b.rung : a.log_speedup < b.log_speedup;
  }
};
Fitness fitness_of(const Evaluation& evaluation);

/// Confidence interval of the factor by which `a` is faster than `b`; both measured.
struct Factor {
  double ratio = 1, low = 1, high = 1;
};
Factor factor_between(const Fitness& a, const Fitness& b);
std::string factor_text(const Factor& factor);  ///< "1.2 times as fast (1.1 to 1.3)"

struct Elite {
  std::int64_t step = 0;
  Cell cell;
  Fitness fitness;
  std::int64_t compared_with = 0;  ///< the step its fitness is relative to; 0: none
};
/// As of fitnesses, but one that was measured against the other has no other noise than that.
Factor factor_between(const Elite& a, const Elite& b);

/// One edge of the family tree, whatever became of the child.
struct Transition {
  std::int64_t parent = 0, child = 0;
  Cell from, to;    ///< `to` is empty when the child was not measured
  double gain = 0;  ///< log of child over parent; 0 unless both were measured
  bool measured = false;
  bool kept = false;
};

/// What became of a newcomer, and why.
struct Decision {
  bool kept = false;
  bool new_cell = false;  ///< the first one in its cell
  bool new_best = false;  ///< faster than everything before, beyond the noise (or the first that was measured)
  std::vector<std::int64_t> replaced;
  std::string sentence;  ///< for people: "kept: 1.31 times step 12 (1.24 to 1.38), which it replaces"
};

struct ArchiveOptions {
  int keep = 3;             ///< elites per cell
  bool noise_aware = true;  ///< false: any larger speedup replaces (the published rule)
};

/// A newcomer, borrowed for the call.
struct Newcomer {
  std::int64_t step = 0;
  const std::vector<std::int64_t>& parents;
  const Evaluation& evaluation;
  const Cell& cell;  ///< empty unless measured
};

/// Not thread-safe. A pure function of the newcomers in their order, so replaying a run rebuilds it.
class Archive {
 public:
  explicit Archive(const ArchiveOptions& options = {}) : options_(options) {}

  /// The one way in: decides, records every parent-to-child transition, and explains.
  Decision insert(const Newcomer& newcomer);

  /// A kernel that was refused when it was measured again: it is no elite, what it measured counts for nothing, and
  /// those that it had put out of its cell are weighed again.
  void refute(std::int64_t step);

  /// Elites by cell, best first.
  const std::map<Cell, std::vector<Elite>>& cells() const { return cells_; }
  std::vector<Elite> elites() const;           ///< of all cells, best first
  const Elite* find(std::int64_t step) const;  ///< null when it is not an elite
  /// The one that nothing has beaten (beyond the noise, if that counts); null while empty. Not the largest figure: of
  /// many noisy ones that is a lucky one.
  const Elite* best() const;
  const std::vector<Transition>& transitions() const { return transitions_; }

 private:
  Decision place(const Elite& newcomer, bool new_best);
  bool beats(const Elite& a, const Elite& b) const;

  ArchiveOptions options_;
  std::int64_t best_ = 0;  // a step; kept until it is refuted, and whoever replaces it in its cell has beaten it
  std::map<Cell, std::vector<Elite>> cells_;
  std::map<std::int64_t, Elite> measured_;  // that is not refuted, elite or not: parents of transitions
  std::vector<Transition> transitions_;
};

}  // namespace kerf
