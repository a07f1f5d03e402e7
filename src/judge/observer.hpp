#pragma once
// What a person watching sees: one event per finished tier. Implemented in app/.

#include <string>

namespace kerf {

struct TierEvent {
  std::string candidate;
  std::string tier;  ///< "parse", "compile", "static", "small shape", "all shapes", "coarse timing", "fine timing"
  bool ok = true;
  double ms = 0;
  std::string detail;  ///< a few words: shapes and data sets checked, samples taken, or why it failed
};

/// Calls come from the thread that evaluates, one at a time.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_tier(const TierEvent& event) = 0;
  virtual void on_note(const std::string& text) = 0;  ///< e.g. "preparing data for shape 'default'"
};

class NullObserver final : public Observer {
 public:
  void on_tier(const TierEvent&) override {}
  void on_note(const std::string&) override {}
};

}  // namespace kerf
