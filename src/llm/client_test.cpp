// Retries, waits, budgets and dialects, on a scripted transport. What libcurl does is in tests/llm.

#include "llm/client.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace kerf::llm {
namespace {

using End = HttpOutcome::End;

struct Scripted {
  HttpOutcome outcome;
  std::string body;
};

class FakeTransport final : public HttpTransport {
 public:
  std::deque<Scripted> script;
  std::vector<HttpRequest> asked;
  HttpOutcome post(const HttpRequest& request, const HttpLimits&, const OnBytes& on_bytes,
                   const std::atomic<bool>&) override {
    asked.push_back(request);
    if (script.empty()) return {End::no_connection, {}, "nothing scripted"};
    Scripted next = std::move(script.front());
    script.pop_front();
    if (!next.body.empty()) on_bytes(next.outcome.head, next.body);
    return next.outcome;
  }
};

HttpHead head(int status) { return {status, "application/json", std::nullopt, ""}; }
Scripted good(const std::string& text, int prompt = 10, int reply = 5) {
  return {{End::complete, head(200), ""},
          R"({"choices":[{"message":{"content":")" + text + R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":)" +
              std::to_string(prompt) + R"(,"completion_tokens":)" + std::to_string(reply) + "}}"};
}
Scripted status(int code, const std::string& message = "no", std::optional<std::chrono::milliseconds> after = {}) {
  Scripted one{{End::complete, head(code), ""}, R"({"error":{"message":")" + message + R"("}})"};
  one.outcome.head.retry_after = after;
  return one;
}

class ClientTest : public ::testing::Test {
 protected:
  ChatOutcome ask(const ModelSpec& spec, const ChatRequest& request, const Secret& key = {}) {
    const ClientTools tools{transport_, budget_, clock_, [this](Nanoseconds wait) { clock_.advance(wait); }};
    auto client = make_chat_client(spec, key, tools);
    EXPECT_TRUE(client) << (client ? "" : client.error().message);
    return (*client)->ask(request, cancelled_);
  }
  ModelSpec spec_{"m", "http://127.0.0.1:1/v1", std::nullopt, 32768, 8192, std::nullopt, {}, ""};
  ChatRequest request_{{{"user", "hello"}}, 1000};
  FakeTransport transport_;
  FakeClock clock_;
  Budget budget_{{0, 0}};
  std::atomic<bool> cancelled_{false};
};

TEST_F(ClientTest, RetriesWithGrowingWaitsAndCountsAttempts) {
  transport_.script = {status(500), status(503), {{End::broken, {}, "reset"}, ""}, good("done")};
  const auto reply = std::get<ChatReply>(ask(spec_, request_));
  EXPECT_EQ(reply.text, "done");
  EXPECT_EQ(reply.attempts, 4);
  EXPECT_GE(reply.seconds, 0.5 + 1 + 2);
  EXPECT_LE(reply.seconds, 1 + 2 + 4 + 0.2);
}

TEST_F(ClientTest, AnEndpointThatWasNeverReachedIsSoonGivenUp) {
  const auto failed = std::get<ChatFailure>(ask(spec_, request_));
  EXPECT_EQ(failed.kind, FailureKind::network);
  EXPECT_EQ(failed.attempts, 2);
  EXPECT_LE(failed.seconds, 1.1);
  transport_.asked.clear();
  transport_.script = {
      status(503), {{End::no_connection, {}, "refused"}, ""}, {{End::no_connection, {}, "refused"}, ""}, good("done")};
  EXPECT_EQ(std::get<ChatReply>(ask(spec_, request_)).attempts, 4) << "one that answered before may come back";
}

TEST_F(ClientTest, WaitsAsLongAsTheEndpointAsks) {
  transport_.script = {status(429, "slow down", std::chrono::seconds(17)), good("done")};
  EXPECT_GE(std::get<ChatReply>(ask(spec_, request_)).seconds, 17);
}

TEST_F(ClientTest, DoesNotWaitForHours) {
  transport_.script = {status(429, "come back tomorrow", std::chrono::hours(24)), good("done")};
  const auto failed = std::get<ChatFailure>(ask(spec_, request_));
  EXPECT_EQ(failed.kind, FailureKind::rate_limit);
  EXPECT_EQ(transport_.asked.size(), 1u);
}

TEST_F(ClientTest, GivesUpAfterSomeAttempts) {
  for (int i = 0; i < 9; ++i) transport_.script.push_back(status(500));
  const auto failed = std::get<ChatFailure>(ask(spec_, request_));
  EXPECT_EQ(failed.kind, FailureKind::server);
  EXPECT_EQ(failed.attempts, 5);
  EXPECT_NE(failed.message.find("5 attempts"), std::string::npos);
}

TEST_F(ClientTest, DoesNotRetryWhatWillNotChange) {
  for (const int code : {400, 401, 403, 404}) {
    transport_.script = {status(code), good("done")};
    transport_.asked.clear();
    EXPECT_TRUE(std::holds_alternative<ChatFailure>(ask(spec_, request_)));
    EXPECT_EQ(transport_.asked.size(), 1u) << code;
  }
  transport_.script = {status(401)};
  EXPECT_EQ(std::get<ChatFailure>(ask(spec_, request_)).kind, FailureKind::auth);
}

TEST_F(ClientTest, LearnsWhatAnEndpointTakes) {
  transport_.script = {status(400, "Unsupported parameter: use 'max_completion_tokens' instead"), good("done")};
  EXPECT_TRUE(std::holds_alternative<ChatReply>(ask(spec_, request_)));
  EXPECT_NE(transport_.asked[0].body.find("\"max_tokens\":1000"), std::string::npos);
  EXPECT_NE(transport_.asked[1].body.find("\"max_completion_tokens\":1000"), std::string::npos);
}

TEST_F(ClientTest, SendsNoMoreThanTheBudgetAllows) {
  Budget budget({2000, 0});
  const ClientTools tools{transport_, budget, clock_, [this](Nanoseconds wait) { clock_.advance(wait); }};
  auto client = make_chat_client(spec_, {}, tools).value();
  transport_.script = {good("a", 30, 1000), good("b", 30, 500), good("c", 30, 300), good("d")};
  EXPECT_TRUE(std::holds_alternative<ChatReply>(client->ask(request_, cancelled_)));
  EXPECT_TRUE(std::holds_alternative<ChatReply>(client->ask(request_, cancelled_)));
  EXPECT_EQ(transport_.asked[1].body.find("\"max_tokens\":1000"), std::string::npos);  // clipped
  EXPECT_TRUE(std::holds_alternative<ChatReply>(client->ask(request_, cancelled_)));
  const auto failed = std::get<ChatFailure>(client->ask(request_, cancelled_));
  EXPECT_EQ(failed.kind, FailureKind::budget);
  EXPECT_EQ(transport_.asked.size(), 3u);
  EXPECT_EQ(budget.spent().tokens(), 30 * 3 + 1800);
}

TEST_F(ClientTest, CostsAreCountedByThePriceOrAsTheEndpointNamesThem) {
  spec_.price = Price{1, 10};
  transport_.script = {good("a", 1000, 100)};
  EXPECT_NEAR(std::get<ChatReply>(ask(spec_, request_)).usage.cost_usd, 0.002, 1e-12);
  transport_.script = {{{End::complete, head(200), ""},
                        R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],)"
                        R"("usage":{"prompt_tokens":1,"completion_tokens":1,"cost":0.5}})"}};
  EXPECT_NEAR(std::get<ChatReply>(ask(spec_, request_)).usage.cost_usd, 0.5, 1e-12);
}

TEST_F(ClientTest, AKeyDoesNotTravelUnencrypted) {
  const Secret key = Secret::from_text("sk-secret", "here").value();
  const ClientTools tools{transport_, budget_, clock_, {}};
  ModelSpec elsewhere = spec_;
  elsewhere.base_url = "http://models.example/v1";
  const auto refused = make_chat_client(elsewhere, key, tools);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find("sk-secret"), std::string::npos);
  EXPECT_TRUE(make_chat_client(elsewhere, {}, tools));
  EXPECT_TRUE(make_chat_client(spec_, key, tools));
}

TEST_F(ClientTest, EndpointsEchoingTheKeyDoNotSpreadIt) {
  const Secret key = Secret::from_text("sk-secret", "here").value();
  transport_.script = {status(401, "wrong key sk-secret!")};
  EXPECT_NE(std::get<ChatFailure>(ask(spec_, request_, key)).message.find("wrong key [key]!"), std::string::npos);
  transport_.script = {good("you sent sk-secret to me")};
  EXPECT_EQ(std::get<ChatReply>(ask(spec_, request_, key)).text, "you sent [key] to me");
  const Secret none = Secret::from_text("x", "here").value();
  transport_.script = {good("y[i] = x[i] * index;")};
  EXPECT_EQ(std::get<ChatReply>(ask(spec_, request_, none)).text, "y[i] = x[i] * index;");
  const Secret brief = Secret::from_text("k3y", "here").value();
  transport_.script = {status(401, "wrong key k3y!")};
  EXPECT_NE(std::get<ChatFailure>(ask(spec_, request_, brief)).message.find("wrong key [key]!"), std::string::npos);
}

TEST_F(ClientTest, IsGivenUpWhileItWaits) {
  for (int i = 0; i < 5; ++i) transport_.script.push_back(status(500));
  const ClientTools tools{transport_, budget_, clock_, [this](Nanoseconds wait) {
                            clock_.advance(wait);
                            cancelled_ = true;
                          }};
  auto client = make_chat_client(spec_, {}, tools).value();
  EXPECT_EQ(std::get<ChatFailure>(client->ask(request_, cancelled_)).kind, FailureKind::cancelled);
  EXPECT_EQ(transport_.asked.size(), 1u);
}

TEST(BaseUrl, IsChecked) {
  EXPECT_EQ(parse_base_url("https://api.example/v1/").value().base_url, "https://api.example/v1");
  EXPECT_TRUE(parse_base_url("http://localhost:80/v1").value().on_this_machine);
  EXPECT_TRUE(parse_base_url("http://[::1]:80").value().on_this_machine);
  for (const char* bad :
       {"", "ftp://x", "https://", "https://u:sk-secret@x/v1", "https://x/v1?key=1", "https://x y/"}) {
    const auto parsed = parse_base_url(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().message.find("sk-secret"), std::string::npos);
  }
  EXPECT_FALSE(parse_base_url("http://127.evil.example").value().on_this_machine);
}

TEST(RetryAfter, IsSecondsOrADate) {
  EXPECT_EQ(parse_retry_after(" 12 ", 0), std::chrono::milliseconds(12000));
  EXPECT_EQ(parse_retry_after("1.5", 0), std::chrono::milliseconds(1500));
  EXPECT_EQ(parse_retry_after("Thu, 01 Jan 1970 00:00:20 GMT", 5000), std::chrono::milliseconds(15000));
  EXPECT_EQ(parse_retry_after("soon", 0), std::nullopt);
  EXPECT_EQ(parse_retry_after("-5", 0), std::nullopt);
}

}  // namespace
}  // namespace kerf::llm
