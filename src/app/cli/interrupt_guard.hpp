#pragma once
// Ctrl-C and a polite kill end a search cleanly.

#include <atomic>
#include <csignal>

namespace kerf::cli {

/// Set by the first Ctrl-C while an InterruptGuard lives; the second one ends the program as usual.
const std::atomic<bool>& interrupted();

/// Takes over Ctrl-C and a polite kill for as long as it lives.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction old_int_ = {}, old_term_ = {};
};

}  // namespace kerf::cli
