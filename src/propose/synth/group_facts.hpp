#pragma once
// What each kernel group of a composition is and costs, for people and tools that judge plans without running them.

#include <string>
#include <vector>

#include "propose/synth/space.hpp"

namespace kerf::synth {

/// Figures are for the shape set with the largest weight.
struct GroupFacts {
  std::string family, variant, unit;    ///< unit: "" when the variant names none
  std::string stored;                   ///< name of the buffer its result goes to
  std::vector<std::string> operations;  ///< kinds of its loops, in graph order: "conv", "contract", "reduce", ...
  std::vector<std::string> functions;   ///< of the task that it computes, each once: "softmax"
  std::size_t launches = 0;
  double flops = 0;          ///< of products and convolutions, two per multiply-add
  double bytes_read = 0;     ///< of task and intermediate buffers, each once; a variant's own scratch is not counted
  double bytes_written = 0;  ///< likewise
  double moves = 1;          ///< how often what is read crosses the memory bus (docs/adding-a-kernel-family.md)
  /// Bytes over the copy rate or products over their unit's rate, whichever is longer, and the launches. Good for
  /// comparing plans of one task, not as a prediction.
  double expected_us = 0;
};

/// One entry per group; `options[g]` is how group g is computed.
std::vector<GroupFacts> group_facts(const Partition& partition, const std::vector<const Option*>& options,
                                    const TargetContext& context);

}  // namespace kerf::synth
