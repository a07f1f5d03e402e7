#include "app/cli/interrupt_guard.hpp"

#include <unistd.h>

#include <string_view>

namespace kerf::cli {
namespace {

/// A signal handler reaches nothing but globals.
std::atomic<bool> g_interrupted{false};
std::atomic<bool> g_has_results{true};
static_assert(std::atomic<bool>::is_always_lock_free);

void say(std::string_view words) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words.data(), words.size());
}

/// SA_RESETHAND has put the usual action back; a raised signal waits until the handler returns.
void on_signal(int signal) {
  g_interrupted = true;
  if (g_has_results) return say("\nkerf: stopping after the current kernel; once more ends it at once\n");
  say("\nkerf: ended while the task was being prepared; nothing was judged yet\n");
  ::raise(signal);
}

}  // namespace

const std::atomic<bool>& interrupted() { return g_interrupted; }

void InterruptGuard::keep_results() { g_has_results = true; }

InterruptGuard::InterruptGuard(Results results) {
  g_interrupted = false;
  g_has_results = results == Results::some;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &action, &old_[i]);
    if (kSignals[i] == SIGHUP && old_[i].sa_handler == SIG_IGN) ::sigaction(SIGHUP, &old_[i], nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &old_[i], nullptr);
}

}  // namespace kerf::cli
