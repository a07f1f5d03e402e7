#include "llm/budget.hpp"

#include <gtest/gtest.h>

#include "llm/limiter.hpp"

namespace kerf::llm {
namespace {

TEST(Budget, ClipsTheReplyToWhatIsLeft) {
  Budget budget({1000, 0});
  const auto grant = std::get<Grant>(budget.reserve(300, 4096, {}));
  EXPECT_EQ(grant.reply_tokens, 700);
  budget.settle(grant, {300, 100});
  EXPECT_EQ(budget.spent().tokens(), 400);
  EXPECT_EQ(std::get<Grant>(budget.reserve(300, 4096, {})).reply_tokens, 300);
}

TEST(Budget, IsUsedUpWhenNoUsefulReplyFits) {
  Budget budget({1000, 0});
  const auto answer = budget.reserve(900, 4096, {});
  ASSERT_TRUE(std::holds_alternative<Spent>(answer));
  EXPECT_NE(std::get<Spent>(answer).reason.find("1000 tokens"), std::string::npos);
  EXPECT_TRUE(budget.used_up().has_value());
}

TEST(Budget, QuestionsUnderWayHoldTheirShareUntilTheyAreSettled) {
  Budget budget({1000, 0});
  const auto first = std::get<Grant>(budget.reserve(100, 800, {}));
  EXPECT_TRUE(std::holds_alternative<Wait>(budget.reserve(100, 800, {})));
  EXPECT_FALSE(budget.used_up().has_value());
  budget.settle(first, {100, 100});
  EXPECT_EQ(std::get<Grant>(budget.reserve(100, 800, {})).reply_tokens, 700);
}

TEST(Budget, AnEndpointThatAnswersMoreThanItIsAskedForIsGivenRoom) {
  Budget budget({10000, 0});
  const auto first = std::get<Grant>(budget.reserve(100, 400, {}));
  budget.settle(first, {100, 4400});  // 4000 more than it was asked for
  EXPECT_EQ(std::get<Grant>(budget.reserve(100, 400, {})).reply_tokens, 400) << "5500 are left";
  EXPECT_TRUE(std::holds_alternative<Wait>(budget.reserve(100, 400, {}))) << "another one may take 4500 as well";
}

TEST(Budget, MoneyLimitsTheReplyByItsPrice) {
  Budget budget({0, 0.01});
  const Price price{1, 10};  // USD per million
  const auto grant = std::get<Grant>(budget.reserve(1000, 100000, price));
  EXPECT_EQ(grant.reply_tokens, 900);  // 0.01 - 0.001 for the prompt
  EXPECT_LE(grant.cost_usd, 0.01 + 1e-12);
  budget.settle(grant, {1000, 900, 0, price.of(1000, 900)});
  EXPECT_TRUE(std::holds_alternative<Spent>(budget.reserve(1000, 100000, price)));
}

TEST(Budget, CountsWhatEarlierProcessesSpent) {
  Budget budget({1000, 0});
  budget.add_spent({500, 400});
  EXPECT_TRUE(std::holds_alternative<Spent>(budget.reserve(50, 4096, {})));
}

TEST(RateLimiter, KeepsRequestsTokensAndQuestionsAtOnceInBounds) {
  FakeClock clock;
  RateLimiter requests({8, 2, 0}, clock);
  EXPECT_TRUE(requests.try_begin(1));
  EXPECT_TRUE(requests.try_begin(1));
  EXPECT_FALSE(requests.try_begin(1));
  clock.advance(std::chrono::seconds(61));
  EXPECT_TRUE(requests.try_begin(1));

  RateLimiter tokens({8, 0, 1000}, clock);
  EXPECT_TRUE(tokens.try_begin(5000));  // alone it is let through
  EXPECT_FALSE(tokens.try_begin(10));
  clock.advance(std::chrono::seconds(61));
  EXPECT_TRUE(tokens.try_begin(600));
  EXPECT_FALSE(tokens.try_begin(600));

  RateLimiter one({1, 0, 0}, clock);
  EXPECT_TRUE(one.try_begin(1));
  EXPECT_FALSE(one.try_begin(1));
  one.end();
  EXPECT_TRUE(one.try_begin(1));
}

}  // namespace
}  // namespace kerf::llm
