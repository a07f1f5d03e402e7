#pragma once
// The builtin mind: genomes to candidate files, and the operators that change genomes.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/rng.hpp"
#include "codegen/dialect.hpp"
#include "device/device.hpp"
#include "memory/recipe.hpp"
#include "model/candidate.hpp"
#include "model/task.hpp"
#include "propose/proposer.hpp"
#include "propose/synth/genome.hpp"
#include "propose/synth/group_facts.hpp"

namespace kerf::synth {

/// Knows one task on one target: its rewrites, legal partitions and the variants that fit each group.
class Synthesiser {
 public:
  /// An error names the operators that no family covers, or says that the task has no expression.
  static Result<std::unique_ptr<Synthesiser>> create(const Task& task, const std::string& target,
                                                     const codegen::DialectTraits& dialect, const DeviceFacts& facts,
                                                     const std::map<std::string, double>& rates = {});
  ~Synthesiser();

  // Every genome that these hand out can be rendered; compositions that cannot be written are passed over.

  /// Sensible first tries, best guess first: the most fused genome of each rewrite, in the order of what they should
  /// take; the same with another variant for groups that are alike; the least fused genomes. Never empty.
  std::vector<Genome> starts() const;
  /// Drawn over all that the operators below can reach: rewrites, what is stored, families, variants and parameters.
  Genome random(Rng& rng) const;

  // Each gives a legal genome that differs from its parents, or none when there is nothing to change.
  std::optional<Genome> change_parameter(const Genome& parent, Rng& rng) const;
  std::optional<Genome> change_family(const Genome& parent, Rng& rng) const;
  std::optional<Genome> change_fusion(const Genome& parent, Rng& rng) const;  ///< splits or merges a group
  std::optional<Genome> cross(const Genome& a, const Genome& b, Rng& rng) const;

  // Across tasks (memory/): what a genome is made of, and the nearest to a recipe that can be written for this task.
  std::optional<memory::Recipe> recipe(const Genome& genome) const;
  std::optional<Genome> adapted(const memory::Recipe& recipe) const;

  /// An ordinary candidate file. Parameters become tunables with the genome's value first.
  Result<Candidate> render(const Genome& genome) const;
  std::string text(const Genome& genome) const;               ///< to_json, with the genes that share their kernels
  std::string describe(const Genome& genome) const;           ///< "matmul/tiled + pointwise/vector"
  std::vector<GroupFacts> facts(const Genome& genome) const;  ///< of its groups; empty when it does not fit
  double expected_us(const Genome& genome) const;             ///< the same added up; 0: not known
  std::string difference(const Genome& from, const Genome& to) const;  ///< "g0 BM 64 -> 128"

 private:
  struct Impl;
  explicit Synthesiser(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The cell a candidate file would land in, guessed from its text alone; cheap. Empty: no guess.
using Foresee = std::function<std::vector<int>(const std::string& source)>;

/// By "family/variant": the share of the best speed that it is known to reach on tasks like this one.
using Advice = std::map<std::string, double>;

inline constexpr const char* kBuiltinMind = "builtin";

/// The builtin mind as a proposer. Operations: start, restart, parameter, family, fusion, crossover. With `foresee` it
/// makes several children and takes one that leads where the search asks it to go. With `advice` its first guesses come
/// in the order of what is known of their variants; those that nothing is known of stay between good and bad ones.
std::unique_ptr<Proposer> make_builtin_proposer(std::shared_ptr<Synthesiser> synthesiser, Foresee foresee = {},
                                                const Advice& advice = {});

}  // namespace kerf::synth
