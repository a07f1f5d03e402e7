#pragma once
// Prompts that evolve: four sections that models change by exact edits, with credit for the kernels that came of each
// variant. The seed is never changed and keeps a share of the questions, so that there is always something to compare
// with.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/rng.hpp"

namespace kerf::agents {

/// The names of the sections that may change, in order; each is a file of prompts/sections.
inline constexpr std::string_view kPromptSections[] = {"philosophy", "strategies", "pitfalls", "analysis"};

/// Text by name; has exactly the names above.
using PromptSections = std::map<std::string, std::string, std::less<>>;

/// All sections as one text, each under a line "# name": the form that is edited, stored and compared.
std::string sections_text(const PromptSections& sections);
/// Reads that form; the error says what is missing, unknown, empty or too long, in words for the one who edited it.
Result<PromptSections> parse_sections(std::string_view text);
/// "p1a2b3c4": the beginning of the text's SHA-256.
std::string sections_id(const PromptSections& sections);

/// How the credit of a variant is reckoned and the next one chosen.
enum class PromptRule {
  mean,       ///< mean improvement over the parent kernel, with an upper confidence bound
  published,  ///< the best child ever, softmax with a bonus for few uses, a fifth at random
  frozen,     ///< the seed only
};
std::string_view prompt_rule_name(PromptRule rule);  ///< stored, so never renamed
Result<PromptRule> prompt_rule_from_name(const std::string& name);

struct PopulationOptions {
  PromptRule rule = PromptRule::mean;
  std::size_t capacity = 8;    ///< variants, with the seed
  int min_uses = 4;            ///< before a variant's credit counts, and before it can be dropped
  double control_share = 0.2;  ///< of the questions, for the seed (rule `mean`)
  int mutate_every = 12;       ///< answers between two attempts at a new variant
};

struct PromptVariant {
  std::string id;
  std::string parent;  ///< id of the variant that was edited; "" for the seed
  PromptSections sections;
  int uses = 0;       ///< kernels (or answers without one) whose gain is known
  double mean = 0;    ///< of their gains, each less the mean gain of its time and stage
  double best = 0;    ///< largest gain
  double square = 0;  ///< sum of squared distances from the mean
  int asked = 0;      ///< questions it was chosen for; at least `uses` in a process that saw all of them
  bool dropped = false;
};

/// Not thread-safe.
class PromptPopulation {
 public:
  PromptPopulation(PromptSections seed, const PopulationOptions& options);

  const PromptVariant& seed() const { return variants_.front(); }
  /// Every variant there was, the seed first, then by age; dropped ones are kept for their records.
  const std::vector<PromptVariant>& variants() const { return variants_; }
  const PromptVariant* find(std::string_view id) const;
  const PopulationOptions& options() const { return options_; }

  /// The variant for the next question.
  const PromptVariant& choose(Rng& rng);
  /// A kernel that came of the variant is this much faster than what it started from (natural logarithm); 0 when it was
  /// refused or slower. `stage`: gains of drafts and refinements are not compared with each other.
  void observe(std::string_view id, std::string_view stage, double gain);
  /// What the variant is ranked by; none before it was used often enough.
  std::optional<double> credit(const PromptVariant& variant) const;

  /// True when a new variant is due.
  bool wants_child() const;
  /// The variant to edit; starts the wait for the next one, whatever becomes of this attempt.
  const PromptVariant& parent_for_child(Rng& rng);
  /// Adds a variant and drops the worst when there are too many. None when it is known already or cannot be placed.
  std::optional<std::string> add(const std::string& parent, PromptSections sections);
  /// Adds a variant of an earlier part of the run, however many there are: the worst are dropped when the next one is
  /// chosen, after their credit has come back.
  void restore(const std::string& parent, PromptSections sections);
  /// Takes over a variant of earlier runs with its figures; of the seed the figures only. Before any question.
  void inherit(PromptVariant variant);

 private:
  std::vector<std::size_t> alive() const;
  bool drop_worst(int least_uses);
  double spread() const;
  PromptVariant* find_mutable(std::string_view id);

  PopulationOptions options_;
  std::vector<PromptVariant> variants_;
  struct Level {
    double mean = 0;
    int count = 0;
  };
  std::map<std::string, Level, std::less<>> levels_;  // running mean gain per stage
  int observed_ = 0, since_child_ = 0;
};

}  // namespace kerf::agents
