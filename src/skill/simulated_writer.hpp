#pragma once
// The chances of tests/llm/writer.py without its server, and planted skills whose truth is known. Figures from it are a
// simulation of the learner's environment. For tests and benchmarks.

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/rng.hpp"
#include "skill/gate.hpp"
#include "skill/writer_chances.hpp"

namespace kerf::skill {

enum class Planted { good, inert, harmful };

inline constexpr int kTopRung = 4;  ///< of a ladder of kernels, each 1.5 times as fast as the last

/// A conversation with the writer: each answer is a draft until a kernel has passed and then a refinement of the best;
/// what the judge said of a refused one is shown with the next.
class Conversation {
 public:
  Conversation(const Abilities& chances, Rng& rng) : chances_(chances), rng_(rng) {}

  /// The rung of the next answer; none when it is refused.
  std::optional<int> answer() {
    const bool faster = writer::happens(chances_.faster, rng_);
    const int next = faster ? std::min(best_ + 1, kTopRung) : static_cast<int>(rng_.integer(0, std::max(best_, 0)));
    const Abilities now = chances_ + told_;
    const bool compiles = writer::happens(now.compiles, rng_), right = writer::happens(now.right, rng_);
    told_ = !compiles ? writer::kCompilerOutput : !right ? writer::kWrongElements : Abilities{};
    if (!compiles || !right) return std::nullopt;
    best_ = std::max(best_, next);
    return next;
  }

 private:
  Abilities chances_, told_;
  Rng& rng_;
  int best_ = -1;
};

/// One attempt as a trial with the writer makes them: six answers; the lowest rung is as fast as the baseline.
inline Sample attempt(const Abilities& chances, Rng& rng) {
  constexpr int kAnswers = 6;
  Sample best;
  Conversation conversation(chances, rng);
  for (int answer = 0; answer < kAnswers; ++answer)
    if (const auto rung = conversation.answer())
      best = {true, std::max(best.log_speedup, std::log(1.5) * *rung + 0.02 * rng.normal())};
  return best;
}

/// How many answers it takes to the first right kernel, and to one of the top rung; at most `most` plus one.
struct Answers {
  int to_right = 0, to_top = 0;
};
inline Answers answers_taken(const Abilities& chances, int most, Rng& rng) {
  Answers taken{most + 1, most + 1};
  Conversation conversation(chances, rng);
  for (int answer = 1; answer <= most && taken.to_top > most; ++answer)
    if (const auto rung = conversation.answer()) {
      taken.to_right = std::min(taken.to_right, answer);
      if (*rung == kTopRung) taken.to_top = answer;
    }
  return taken;
}

inline TakeSample writer_arm(Planted kind) {
  return [kind](const GateTask& task, Arm arm, int, std::uint64_t seed) -> Result<Sample> {
    Abilities chances = writer::kBase;
    if (arm == Arm::with && kind == Planted::good && !task.unrelated) chances = chances + writer::kSkill;
    if (arm == Arm::with && kind == Planted::harmful) chances = chances + writer::kHarmfulSection;
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
