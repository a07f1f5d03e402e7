#pragma once
// The search: ask minds, build, judge, keep, remember, until a reason to stop. Several jobs are under way at once.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "archive/archive.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/event.hpp"
#include "propose/proposer.hpp"
#include "search/evaluator.hpp"
#include "store/run_store.hpp"

namespace kerf {

struct SearchOptions {
  std::string search = "kerf";   ///< a name of policy_names()
  std::uint64_t seed = 1;        ///< of every choice; proposal N draws from the stream "ask N"
  int evaluations = 100;         ///< 0: no limit
  double seconds = 0;            ///< 0: no limit
  int patience = 60;             ///< evaluations without an improvement beyond the noise; 0: no limit
  double floor_fraction = 0.97;  ///< of the speed of light, at which a kernel is as good as done
  int starts = 12;               ///< most first guesses before the search deepens the best ...
  double start_share = 0.4;      ///< ... and their share of the evaluations
  int remembered = 4;            ///< kernels of similar tasks that are tried before them, where there is a memory
  int at_once = 1;               ///< proposals that are built side by side; 1 where compilers disturb timings
  int tunings = 2;               ///< times the best kernel's tunables are searched by themselves ("kerf" only)
  double tune_share = 0.35;      ///< of the evaluations that are left, for each of them
  int finalists = 3;             ///< measured again at the end
  int counters = 1;              ///< 0: kernels are shown to slow minds without what the machine's counters say of them
  ArchiveOptions archive;
};

/// Borrowed for the call.
struct SearchInputs {
  std::vector<Proposer*> minds;
  Evaluator& evaluator;
  RunStore& store;
  Clock& clock;                          ///< thread-safe
  const std::atomic<bool>& interrupted;  ///< set: finish the candidate at hand, then stop; the run can be resumed
  std::string target{};                  ///< of proposals that have no `target:` line
  std::vector<Proposal> fallbacks{};     ///< evaluated at the end when nothing beats the baseline: the naive kernel
  const std::vector<Step>* follow = nullptr;  ///< a recorded run whose decisions are taken again; null: none
};

struct SearchResult {
  std::string stopped;  ///< why, for people
  bool interrupted = false;
  std::int64_t best_step = 0;   ///< 0: nothing was measured
  bool beats_baseline = false;  ///< the best is faster than the strongest baseline, beyond the noise
  SearchProgress progress;
};

/// Continues where the store's steps end; everything is rebuilt from them, so a run that was killed goes on as if
/// nothing had happened. Every step is in the store before it is reported. Events come from the calling thread.
Result<SearchResult> optimize(const SearchInputs& inputs, const SearchOptions& options, RunObserver& observer);

}  // namespace kerf
