#pragma once
// Whole searches over made-up kernels, for tests.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "search/landscape_fixture.hpp"
#include "search/loop.hpp"
#include "store/fake_run_store.hpp"

namespace kerf {

/// The point as a mind would answer it.
inline Proposal point_proposal(const landscape::Point& p) {
  return {"family" + std::to_string(p.family), landscape::kernel(p).source, landscape::genome_of(p), {}, "answer"};
}

/// Checks that every step is in the store before it is reported.
class Watcher final : public RunObserver {
 public:
  explicit Watcher(RunStore& store) : store_(store) {}
  std::vector<Step> reported;
  SearchProgress last;
  std::vector<std::string> notes;
  void on_event(const RunEvent& event) override {
    if (const auto* note = std::get_if<RunNote>(&event)) notes.push_back(note->text);
    const auto* finished = std::get_if<StepFinished>(&event);
    if (finished == nullptr) return;
    const auto& [step, progress, estimate] = *finished;
    const auto* measurement = std::get_if<Measurement>(&step.evaluation.outcome);
    EXPECT_EQ(estimate.ratio > 0, measurement != nullptr && measurement->speedup.ratio > 0 && !is_fallback(step))
        << "step " << step.number;
    const auto stored = store_.step(step.number);
    ASSERT_TRUE(stored) << "step " << step.number << " was reported before it was stored";
    EXPECT_EQ(stored->decision, step.decision);
    reported.push_back(step);
    last = progress;
  }

 private:
  RunStore& store_;
};

class LoopTest : public testing::Test {
 protected:
  LoopTest() {
    evaluator.clock = &clock;
    options.patience = 0;
    options.tunings = 0;
  }

  /// One run, or one more sitting of it.
  SearchResult run(const std::string& name) { return run_with(name, {&proposer}); }
  SearchResult run_with(const std::string& name, std::vector<Proposer*> minds) {
    RunStore& store = stores[name];
    Watcher watcher(store);
    SearchInputs inputs{std::move(minds), evaluator, store, clock, interrupted};
    inputs.target = landscape::kTarget;
    inputs.fallbacks = fallbacks;
    inputs.follow = follow;
    auto result = optimize(inputs, options, watcher);
    error = result ? "" : result.error().message;
    progress = watcher.last;
    notes = watcher.notes;
    return result ? *result : SearchResult{};
  }
  std::vector<Step> steps(const std::string& name) { return stores[name].steps().value(); }

  std::map<std::string, FakeRunStore> stores;
  std::vector<Proposal> fallbacks;
  const std::vector<Step>* follow = nullptr;
  std::vector<std::string> notes;
  FakeClock clock;
  landscape::ScriptedProposer proposer;
  landscape::ScriptedEvaluator evaluator;
  std::atomic<bool> interrupted{false};
  SearchOptions options;
  SearchProgress progress;
  std::string error;
};

}  // namespace kerf
