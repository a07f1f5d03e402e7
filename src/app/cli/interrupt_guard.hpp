#pragma once
// Ctrl-C, a polite kill and a terminal that goes away end a search cleanly.

#include <array>
#include <atomic>
#include <csignal>

namespace kerf::cli {

/// Set by the first Ctrl-C while an InterruptGuard lives; the second one ends the program as usual.
const std::atomic<bool>& interrupted();

/// Takes over SIGINT, SIGTERM and SIGHUP for as long as it lives; under nohup the last stays ignored.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> old_ = {};
};

}  // namespace kerf::cli
