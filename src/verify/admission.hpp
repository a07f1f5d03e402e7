#pragma once
// Is the task worth optimising? A task whose check a trivial candidate passes would reward cheating.

#include <cstdint>
#include <string>
#include <vector>

#include "base/memory.hpp"
#include "base/result.hpp"
#include "model/task.hpp"
#include "oracle/reference.hpp"

namespace kerf {

struct Admission {
  bool admitted = true;
  std::string reason;              ///< why not; "" when admitted
  std::vector<std::string> tried;  ///< the trivial candidates that failed, as they must
  std::vector<std::string> notes;  ///< what people should know about how the task is judged
  std::vector<std::string> idle;   ///< inputs that cancel out, of a task with finite ones: kernels may leave them out
};

/// Tries the trivial candidates (zeros, constant, mean, copy of an input, the reference on a subsample) against the
/// reference on the smallest shape of the task, those that need no further reference on every timed shape that the host
/// can answer quickly, and checks that the outputs change with every input. Candidates are held to the rules of
/// `judge_slot`; honest errors are estimated by moving the inputs by a rounding of the accuracy class. What is drawn
/// depends on the task alone, so every command gives the same answer; so does how much is tried, which is limited by
/// what an answer of the reference takes. An error when a shape does not fit into `host_bytes` of memory (0: no limit
/// is known).
Result<Admission> admit(const Task& task, const oracle::Reference& reference,
                        std::int64_t host_bytes = available_memory_bytes());

}  // namespace kerf
