#pragma once
// What minds and shown knowledge gave to a run, for people: minds side by side, questions with and without each kind of
// knowledge, and every item with its value as it moved.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "run/run_view.hpp"

namespace kerf {

/// What one mind gave and took.
struct MindTally {
  std::string mind;
  std::size_t kernels = 0, passed = 0, best = 0;  ///< best: faster than all before
  std::int64_t tokens = 0;
  double cost_usd = 0;
};
std::vector<MindTally> tally_minds(const RunView& run);  ///< most kernels first

/// One experience, skill or document that was shown or tried.
struct ContextTally {
  std::string id;     ///< "experience:9f3c..."
  std::string kind;   ///< what stands before the colon
  std::string about;  ///< for people: the task it comes from; "" where the run does not say
  std::size_t uses = 0, passed = 0;
  /// Step and value after it, as the memory's rule moves them within this run, from 0.
  std::vector<std::pair<std::int64_t, double>> moves;
};
std::vector<ContextTally> tally_context(const RunView& run);  ///< most used first

/// Answers of language models and programs with and without one kind of knowledge.
struct KnowledgeArm {
  std::string kind;  ///< "experience", "skill", "api"
  bool with = false;
  std::size_t answers = 0, passed = 0;
  double mean_gain = 0;  ///< natural logarithm of the speedup over what was shown, at least 0
};
std::vector<KnowledgeArm> knowledge_arms(const RunView& run);  ///< by kind, with it first

}  // namespace kerf
