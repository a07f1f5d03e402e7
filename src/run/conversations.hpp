#pragma once
// What was said for each step of a run, as people look at it: long texts are cut. `kerf traces export` has them whole.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/step.hpp"
#include "store/run_store.hpp"

namespace kerf {

inline constexpr std::size_t kShownText = 8000;  ///< bytes of one message, reply or reasoning

/// Questions and answers by step, in their order; steps without any are not in it.
using Conversations = std::map<std::int64_t, std::vector<Exchange>>;

Result<Conversations> load_conversations(const RunStore& store, const std::vector<Step>& steps);

/// One conversation in figures.
struct ConversationSum {
  std::string models;     ///< "small, large"
  std::string questions;  ///< what was asked, in order: "select, policy", with "(timeout)" behind what gave no answer
  std::int64_t prompt_tokens = 0, reply_tokens = 0;
  double cost_usd = 0, seconds = 0;
};
ConversationSum sum_of(const std::vector<Exchange>& exchanges);

}  // namespace kerf
