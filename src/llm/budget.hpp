#pragma once
// What all models together may spend: checked before a question is sent, settled when its answer is there.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "llm/chat.hpp"

namespace kerf::llm {

/// USD per million tokens.
struct Price {
  double prompt = 0, reply = 0;

  double of(std::int64_t prompt_tokens, std::int64_t reply_tokens) const {
    return (prompt * static_cast<double>(prompt_tokens) + reply * static_cast<double>(reply_tokens)) * 1e-6;
  }
  bool operator==(const Price&) const = default;
};

struct BudgetLimits {
  std::int64_t tokens = 0;  ///< prompts and replies; 0: no limit
  double cost_usd = 0;      ///< 0: no limit

  bool operator==(const BudgetLimits&) const = default;
};

/// Tokens and money set aside for one question.
struct Grant {
  std::int64_t prompt_tokens = 0, reply_tokens = 0;
  double cost_usd = 0;
};
struct Wait {};  ///< questions under way hold what is left; some of it may come back
struct Spent {
  std::string reason;  ///< "the budget of 10000 tokens is used up (9810 spent)"
};

/// Thread-safe.
class Budget {
 public:
  explicit Budget(const BudgetLimits& limits) : limits_(limits) {}

  /// Sets aside what the question may take: its prompt and at most `wanted` tokens of reply, fewer where less is left.
  std::variant<Grant, Wait, Spent> reserve(std::int64_t prompt_tokens, std::int64_t wanted, const Price& price);
  void settle(const Grant& grant, const Usage& used);

  Usage spent() const;
  void add_spent(const Usage& before);         ///< by earlier processes of a resumed run
  std::optional<std::string> used_up() const;  ///< the reason of the first `Spent`
  const BudgetLimits& limits() const { return limits_; }

 private:
  const BudgetLimits limits_;
  mutable std::mutex mutex_;
  Usage spent_;  // guarded by mutex_, as all below
  std::int64_t held_tokens_ = 0;
  double held_cost_ = 0;
  std::int64_t excess_tokens_ = 0;  // at most so much more than was set aside a question has taken
  double excess_cost_ = 0;
  int under_way_ = 0;
  std::optional<std::string> used_up_;
};

}  // namespace kerf::llm
