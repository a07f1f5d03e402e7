#pragma once
// What a person watching sees: one event per finished tier. Implemented in app/.

#include <string>

#include "model/event.hpp"

namespace kerf {

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
