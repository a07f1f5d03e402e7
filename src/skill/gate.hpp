#pragma once
// Whether a skill helps: three arms (without it, with it, with a placebo of the same length) on tasks of its scope and
// one outside of it, sampled in pairs and interleaved. The statistics alone; what a sample is, the caller says.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "skill/skill.hpp"

namespace kerf::skill {

enum class Arm { without, with, placebo };
inline constexpr Arm kArms[] = {Arm::without, Arm::with, Arm::placebo};
std::string_view arm_name(Arm arm);

/// What one attempt gave.
struct Sample {
  bool right = false;      ///< a kernel passed every gate
  double log_speedup = 0;  ///< natural logarithm, over the baseline; 0 when it is not right: the baseline is used then
};

struct GateTask {
  std::string name;
  bool unrelated = false;  ///< outside of the skill's scope: it must do no harm there
};

struct GateOptions {
  int first = 6;               ///< samples an arm and task before the first look
  int most = 12;               ///< samples an arm and task: what an admission needs
  double confidence = 0.9;     ///< of the intervals that admit, two-sided
  double clear = 0.99;         ///< of the intervals that refuse: in between, and for harm
  double allowed_fall = 0.02;  ///< of the share of right kernels
  double allowed_harm = 0.02;  ///< of the mean log speedup outside of the scope
  int resamples = 2000;        ///< of the bootstrap
};

/// One attempt. The same task, repeat and seed are asked for in all arms.
using TakeSample = std::function<Result<Sample>(const GateTask& task, Arm arm, int repeat, std::uint64_t seed)>;

/// The mean of `differences` (one list a task, tasks count alike) with its bootstrap interval,
/// widened for small samples.
struct Effect {
  double mean = 0, low = 0, high = 0;
};
Effect mean_effect(const std::vector<std::vector<double>>& differences, double confidence, int resamples,
                   std::uint64_t seed);

/// The trial as evidence: who took it, when and where, is filled in by the caller. Samples are taken in rounds, all
/// arms of all tasks in each, in an order that changes. Looks in between can only refuse (clearly no better than
/// nothing or than the placebo, clearly fewer right kernels, clear harm elsewhere), so that they admit nothing by
/// chance; admitted is after `most` samples, when the lower bounds of with - without and of with - placebo are above 0.
/// An error where a sample cannot be taken, and for fewer than three tasks of the scope or none outside of it.
Result<Evidence> run_gate(const std::vector<GateTask>& tasks, const GateOptions& options, std::uint64_t seed,
                          const TakeSample& take);

/// The gate of the literature, to compare with: one attempt with the skill, right, at least 1.2 times the baseline and
/// 1.2 times the first attempt without it.
bool one_sample_gate(const Sample& with, const Sample& without);

}  // namespace kerf::skill
