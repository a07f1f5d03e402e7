#pragma once
// A skill: one piece of advice on writing kernels, with the evidence that it helps. A text for language models, hints
// for the builtin mind, and what became of it when it was tried.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/dim.hpp"

namespace kerf::skill {

/// Stored as text, never renamed.
enum class State {
  candidate,  ///< written down, not admitted: no search uses it unless it is asked to
  verified,   ///< the three arms admitted it
  refused,    ///< the three arms refused it
  retired,    ///< was verified; what came of its uses does not bear it out
};
std::string_view state_name(State state);
Result<State> state_from_name(std::string_view name);

/// Where a skill may apply; an empty list stands for all.
struct Scope {
  std::vector<std::string> targets;
  std::vector<std::string> families;  ///< as memory::operator_family has them: "reduce", "contract"

  bool operator==(const Scope&) const = default;
};

/// What the builtin mind can do with it: how to compute groups of these operators.
struct Hint {
  std::vector<std::string> operators;  ///< operator words, sorted; empty: whatever the task has
  std::string family, variant;
  Bindings parameters;  ///< values that are not allowed in a task become the nearest that are

  bool operator==(const Hint&) const = default;
};

/// One trial of a skill by three arms (gate.hpp). Effects are differences of mean log speedups.
struct Evidence {
  bool admitted = false;
  std::string reason;
  std::vector<std::string> tasks;                               ///< of the skill's scope
  std::string unrelated;                                        ///< the task outside of it
  int samples = 0;                                              ///< pairs over all tasks of the scope
  double effect = 0, low = 0, high = 0;                         ///< with less without; 90 % interval
  double over_placebo = 0, placebo_low = 0, placebo_high = 0;   ///< with less placebo; likewise
  double elsewhere = 0, elsewhere_low = 0, elsewhere_high = 0;  ///< with less without on the unrelated task
  double right_with = 0, right_without = 0;                     ///< shares of samples with a right kernel
  std::string target, device;
  std::string mind;                   ///< minds and models: "builtin", "llm, NAME"
  std::vector<std::string> settings;  ///< of the searches, where they were not the usual ones: "search.starts=0"
  std::string kerf_version;
  std::int64_t recorded_ms = 0;  ///< wall clock
  bool imported = false;         ///< somebody else's word: shown, not believed
  bool clear = false;            ///< refused because it was clear (99 %), not because too little was shown

  bool operator==(const Evidence&) const = default;
};

/// What became of kernels that were written with it in ordinary runs, against those of the same run without it.
struct Uses {
  double count = 0, mean = 0;  ///< of differences of log speedups

  bool operator==(const Uses&) const = default;
};

struct Skill {
  std::string id;    ///< of name, scope, body and hints: a skill that is changed is another skill
  std::string name;  ///< lower-case words with hyphens
  std::string description;
  Scope scope;
  std::vector<std::string> tags, preconditions;
  std::string motivation, key_idea, example;
  std::vector<Hint> hints;
  std::vector<std::string> parents;  ///< ids: what it was made from or merged with
  int version = 1;
  std::string origin;  ///< "kerf", "file", "run <id>"
  State state = State::candidate;
  std::vector<Evidence> evidence;  ///< the newest last
  Uses uses;
  std::int64_t recorded_ms = 0;

  bool operator==(const Skill&) const = default;
};

inline constexpr std::size_t kLongestSkill = 64u << 10;  ///< bytes of a file or record
inline constexpr std::size_t kMostEvidence = 8;          ///< older trials are dropped

/// 12 hex digits.
std::string skill_id(const Skill& skill);

/// The body as a model is shown it: description, preconditions, motivation, key idea, example; no evidence.
std::string skill_text(const Skill& skill);

bool applies(const Skill& skill, std::string_view target, std::string_view family);

/// Mean log-speedup difference to expect, from the last trial here and all uses, drawn towards 0 while there are few.
double posterior_effect(const Skill& skill);

/// Text of the same length that says nothing about kernels, without hints of its own: the control for having any skill.
Skill placebo_of(const Skill& skill);

}  // namespace kerf::skill
