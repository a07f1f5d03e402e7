#pragma once
// A made-up search problem for tests: kernels are points of a grid, their speed is a formula, nothing is compiled.

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "judge/judge.hpp"
#include "propose/proposer.hpp"
#include "search/evaluator.hpp"

namespace kerf::landscape {

inline constexpr const char* kTarget = "cpu";

inline constexpr int kSide = 24;

struct Point {
  int x = 0, y = 0, family = 0;
};

inline std::string genome_of(const Point& p) { return fmt::format("{} {} {}", p.x, p.y, p.family); }
inline Point point_of(const std::string& genome) {
  Point p;
  std::sscanf(genome.c_str(), "%d %d %d", &p.x, &p.y, &p.family);
  return p;
}
/// The point's own values first, then its neighbours'.
inline std::string values_around(int at) {
  std::string text = std::to_string(at);
  for (int other = at - 3; other <= at + 3; ++other)
    if (other != at && other >= 0 && other < kSide) text += fmt::format(", {}", other);
  return text;
}
inline Candidate kernel(const Point& p) {
  return parse_candidate(fmt::format("family{}", p.family),
                         fmt::format("/* kerf\ntarget: cpu\ntune: X = {{{}}}\ntune: Y = {{{}}}\n*/\nint family{};\n",
                                     values_around(p.x), values_around(p.y), p.family))
      .value();
}
inline Point point_of(const Candidate& candidate, const Bindings& tunables) {
  return {static_cast<int>(tunables.at("X")), static_cast<int>(tunables.at("Y")), candidate.name.back() - '0'};
}

/// Three families; each has its own summit, the third one's is highest.
inline double speedup(const Point& p, double width = 6) {
  const double centre_x[] = {4, 18, 15}, centre_y[] = {5, 16, 6}, top[] = {3, 6, 12};
  const double dx = (p.x - centre_x[p.family]) / width, dy = (p.y - centre_y[p.family]) / width;
  return 0.5 + top[p.family] * std::exp(-dx * dx - dy * dy);
}

class ScriptedProposer final : public Proposer {
 public:
  std::size_t starts = 3;
  std::vector<std::string> asked;  ///< operations, in order

  std::string_view name() const override { return "scripted"; }
  std::vector<OperationInfo> operations() const override {
    return {{kStartOperation}, {"restart"}, {"parameter", true}, {"family", true}, {"crossover", true, true}};
  }
  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
    Rng rng(request.seed);
    asked.push_back(request.operation);
    const auto any = [&](int high) { return static_cast<int>(rng.integer(0, high)); };
    Point p;
    std::vector<std::int64_t> parents;
    if (request.operation == "start") {
      if (request.start_number >= starts) return std::optional<Proposal>{};
      p = {2, 2, static_cast<int>(request.start_number) % 3};
    } else if (request.operation == "restart") {
      p = {any(kSide - 1), any(kSide - 1), any(2)};
    } else {
      p = point_of(request.parent->genome);
      parents = {request.parent->step};
      if (request.operation == "parameter") {
        int& axis = rng.chance(0.5) ? p.x : p.y;
        axis = std::clamp(axis + any(6) - 3, 0, kSide - 1);
      } else if (request.operation == "family") {
        p.family = any(2);
      } else {
        const Point other = point_of(request.inspirations.at(0).genome);
        p = {p.x, other.y, rng.chance(0.5) ? p.family : other.family};
        parents.push_back(request.inspirations.at(0).step);
      }
    }
    const Candidate candidate = kernel(p);
    return std::optional(
        Proposal{candidate.name, candidate.source, genome_of(p), parents, request.operation + " " + genome_of(p)});
  }
};

class ScriptedEvaluator final : public Evaluator {
 public:
  FakeClock* clock = nullptr;       ///< moves one second an evaluation
  double width = 6;                 ///< of the summits
  double scale = 1;                 ///< of all speedups
  double noise = 0.01;              ///< relative, of single measurements; their intervals say so
  double comparison_noise = 0.003;  ///< likewise, of two kernels timed in turn
  std::atomic<int> inspected{0};
  int evaluated = 0, careful = 0, confirmed = 0, trials_timed = 0, comparisons = 0, long_comparisons = 0;
  std::map<std::string, int> times;                             ///< searched, by genome
  std::function<void()> before;                                 ///< called before every evaluation
  std::function<std::optional<Outcome>(const Point&)> outcome;  ///< set: instead of a measurement
  std::function<std::optional<Outcome>(const Point&)>
      comparison_outcome;  ///< set and given: the kernel fails in the comparison
  std::function<std::string(const Point&)> code = [](const Point& p) { return genome_of(p); };
  double floor_us = 0;                   ///< > 0: the speed of light; the baseline takes 100 us
  std::optional<std::string> uncounted;  ///< set: why the machine counts nothing
  int counted = 0;

  Result<std::optional<Counters>> count(const Candidate& candidate, const Bindings& tunables) override {
    ++counted;
    if (uncounted) return fail(Errc::unavailable, *uncounted);
    Counters counters;
    counters.source = genome_of(point_of(candidate, tunables));
    return std::optional(counters);
  }
  Result<std::optional<Inspection>> inspect(const Candidate& candidate, const Bindings& tunables) override {
    const Point p = point_of(candidate, tunables);
    ++inspected;
    Inspection inspection;
    inspection.code = sha256_hex(code(p));
    inspection.descriptors.cell = {p.x * kLevels / kSide, p.y * kLevels / kSide, p.family};
    return std::optional(inspection);
  }
  Result<Evaluation> evaluate(const Candidate& candidate, const Bindings& tunables, Effort effort, Observer&) override {
    if (before) before();
    if (failure) return fail(Errc::unavailable, *failure);
    const Point p = point_of(candidate, tunables);
    if (clock != nullptr) clock->advance(std::chrono::seconds(1));
    Evaluation evaluation;
    evaluation.task = "landscape";
    evaluation.target = kTarget;
    evaluation.candidate = candidate.name;
    evaluation.candidate_id = candidate.id;
    evaluation.tunables = tunables;
    if (effort == Effort::careful) {
      ++careful;
    } else if (effort == Effort::search) {
      ++evaluated;
      ++times[genome_of(p)];
    } else {
      ++confirmed;
    }
    if (outcome)
      if (auto scripted = outcome(p)) {
        evaluation.outcome = *scripted;
        return evaluation;
      }
    Rng rng = Rng(99).fork(genome_of(p));
    const double error = effort == Effort::search ? noise : effort == Effort::careful ? noise / 3 : noise / 10;
    const double ratio = scale * speedup(p, width) * std::exp(error * rng.normal());
    Measurement measurement;
    measurement.speedup = {"naive", ratio, ratio * std::exp(-2 * error), ratio * std::exp(2 * error)};
    ShapeMeasurement shape{
        "default", 1, {100 / ratio, 99 / ratio, 101 / ratio, 9}, {{"naive", {100, 99, 101, 9}}}, {}, std::nullopt};
    if (floor_us > 0) shape.speed_of_light = SpeedOfLight{floor_us, floor_us * ratio / 100, "memory"};
    measurement.shapes.push_back(shape);
    evaluation.outcome = measurement;
    return evaluation;
  }
  Result<PairedOutcome> compare(const PairedKernel& ours, const PairedKernel& theirs, Effort effort) override {
    ++(effort == Effort::careful ? long_comparisons : comparisons);
    const Point a = point_of(ours.candidate, ours.tunables), b = point_of(theirs.candidate, theirs.tunables);
    if (comparison_outcome)
      if (auto scripted = comparison_outcome(a)) return PairedOutcome{std::move(scripted), std::nullopt};
    Rng rng = Rng(7).fork(genome_of(a) + "/" + genome_of(b));
    const double ratio = speedup(a, width) / speedup(b, width) * std::exp(comparison_noise * rng.normal());
    return PairedOutcome{std::nullopt, Speedup{"", ratio, ratio * std::exp(-2 * comparison_noise),
                                               ratio * std::exp(2 * comparison_noise)}};
  }
  Result<Tuned> tune(const Candidate& candidate, int trials, std::uint64_t seed, const OnTrial& on_trial,
                     const std::function<bool()>& go_on, Observer&) override {
    Rng rng(seed);
    Tuned tuned;
    double best = 0;
    for (int i = 0; i < trials && go_on(); ++i) {
      Bindings values;
      for (const Tunable& tunable : candidate.tunables)
        values[tunable.name] =
            tunable
                .values[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(tunable.values.size()) - 1))];
      if (before) before();
      ++trials_timed;
      const double ratio = scale * speedup(point_of(candidate, values), width);
      Evaluation trial;
      trial.target = kTarget;
      trial.tunables = values;
      Measurement measurement;
      measurement.shapes.push_back({"default", 1, {100 / ratio, 99 / ratio, 101 / ratio, 3}, {}, {}, std::nullopt});
      trial.outcome = measurement;
      on_trial(trial);
      if (ratio > best) {
        best = ratio;
        tuned.best = values;
      }
    }
    if (tuned.best.empty()) return fail(Errc::invalid_input, "nothing to tune");
    const int count = evaluated;
    NullObserver silent;
    KERF_TRY(tuned.verdict, evaluate(candidate, tuned.best, Effort::search, silent));
    evaluated = count;
    return tuned;
  }

  std::optional<std::string> failure;
};

}  // namespace kerf::landscape
