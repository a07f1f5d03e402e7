#pragma once
// Ctrl-C, a polite kill and a terminal that goes away end a search cleanly.

#include <array>
#include <atomic>
#include <csignal>

namespace kerf::cli {

/// Set by the first Ctrl-C while an InterruptGuard lives; the second one ends the program as usual.
const std::atomic<bool>& interrupted();

/// Whether there is something yet that is worth a clean end.
enum class Results { some, none_yet };

/// Takes over SIGINT, SIGTERM and SIGHUP for as long as it lives; under nohup the last stays ignored.
class InterruptGuard {
 public:
  /// With `none_yet` the first Ctrl-C ends the program as usual, until `keep_results`: preparing a large task can take
  /// minutes, and nothing is lost with it.
  explicit InterruptGuard(Results results = Results::some);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  static void keep_results();

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> old_ = {};
};

}  // namespace kerf::cli
