#pragma once
// Which model of an ensemble to ask next: improvement per cost.

#include "base/gain_bandit.hpp"

namespace kerf::llm {

/// Arms are models' names, costs in any one unit. Half of what was seen is forgotten after 34 questions.
class ModelBandit : public GainBandit {
 public:
  ModelBandit() : GainBandit(GainBanditOptions{.fade = 0.98, .prior_weight = 1, .optimism = 1.3}) {}
};

}  // namespace kerf::llm
