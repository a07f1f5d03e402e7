#pragma once
// What a person watching a search sees. Implemented in app/.

#include <cstdint>
#include <optional>
#include <string>

#include "model/evaluation.hpp"
#include "store/run_store.hpp"

namespace kerf {

struct SearchProgress {
  std::string stage;  ///< of the last or current step: "start", "search", "tune", "final"
  std::int64_t steps = 0;
  int evaluations = 0;       ///< without duplicates and confirmations
  int evaluation_limit = 0;  ///< 0: none
  int duplicates = 0;        ///< of compiled code, not evaluated
  int failures = 0;          ///< evaluated, not measured
  double seconds = 0;        ///< run time, without pauses between resumes
  double time_limit = 0;     ///< seconds; 0: none
  double rate = 0;           ///< evaluations a minute, of this process
  int since_improvement = 0, patience = 0;
  int cells = 0;               ///< with at least one elite, of 64
  std::int64_t best_step = 0;  ///< 0: none yet
  std::string best_name;
  std::optional<Speedup> best;
  std::optional<SpeedOfLight> speed_of_light;  ///< of the best
};

/// Calls come from the thread that searches, one at a time.
class SearchObserver {
 public:
  virtual ~SearchObserver() = default;
  /// Before a candidate is evaluated: `step` has no evaluation yet.
  virtual void on_candidate(const Step& step, const SearchProgress& progress) = 0;
  /// After the step is safe in the store.
  virtual void on_step(const Step& step, const SearchProgress& progress) = 0;
  virtual void on_note(const std::string& text) = 0;
};

class NullSearchObserver final : public SearchObserver {
 public:
  void on_candidate(const Step&, const SearchProgress&) override {}
  void on_step(const Step&, const SearchProgress&) override {}
  void on_note(const std::string&) override {}
};

}  // namespace kerf
