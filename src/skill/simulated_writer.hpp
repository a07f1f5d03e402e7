#pragma once
// The chances of tests/llm/writer.py without its server, and planted skills whose truth is known. Figures from it are a
// simulation of the learner's environment. For tests and benchmarks.

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "skill/gate.hpp"

namespace kerf::skill {

struct Abilities {
  double compiles = 0.55, right = 0.60, faster = 0.30;
};
enum class Planted { good, inert, harmful };

/// One attempt as a trial with the writer makes them: six answers, each a draft until a kernel has passed and then a
/// refinement of the best; what the judge said of a refused one is shown with the next. Kernels are rungs of a ladder,
/// each 1.5 times as fast as the last, the first as fast as the baseline.
inline Sample attempt(const Abilities& base, Rng& rng) {
  constexpr int kAnswers = 6, kTop = 4;
  Sample best;
  int rung = -1;
  double more_compiles = 0, more_right = 0;
  for (int answer = 0; answer < kAnswers; ++answer) {
    const bool faster = rng.chance(std::clamp(base.faster, 0.02, 0.98));
    const int next = faster ? std::min(rung + 1, kTop) : static_cast<int>(rng.integer(0, std::max(rung, 0)));
    const bool compiles = rng.chance(std::clamp(base.compiles + more_compiles, 0.02, 0.98));
    const bool right = rng.chance(std::clamp(base.right + more_right, 0.02, 0.98));
    more_compiles = compiles ? 0 : 0.35;
    more_right = compiles && !right ? 0.25 : 0;
    if (!compiles || !right) continue;
    rung = std::max(rung, next);
    best = {true, std::max(best.log_speedup, std::log(1.5) * next + 0.02 * rng.normal())};
  }
  return best;
}

inline TakeSample writer_arm(Planted kind) {
  return [kind](const GateTask& task, Arm arm, int, std::uint64_t seed) -> Result<Sample> {
    Abilities chances;
    if (arm == Arm::with && kind == Planted::good && !task.unrelated) chances.faster += 0.30;
    if (arm == Arm::with && kind == Planted::harmful) chances.compiles -= 0.30, chances.right -= 0.10;
    Rng rng = Rng(seed).fork(arm_name(arm));
    return attempt(chances, rng);
  };
}

/// Of `repeats` skills, how many each gate admitted.
struct Admitted {
  int three_arms = 0, one_sample = 0;
};

inline Admitted admitted(const std::vector<GateTask>& tasks, Planted kind, int repeats, const GateOptions& options) {
  Admitted count;
  for (int i = 0; i < repeats; ++i) {
    const auto take = writer_arm(kind);
    const auto seed = static_cast<std::uint64_t>(1000 * static_cast<int>(kind) + i);
    count.three_arms += run_gate(tasks, options, seed, take)->admitted;
    count.one_sample += one_sample_gate(take(tasks[0], Arm::with, 0, mix64(seed)).value(),
                                        take(tasks[0], Arm::without, 0, mix64(seed)).value());
  }
  return count;
}

}  // namespace kerf::skill
