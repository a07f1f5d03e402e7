// The client over libcurl against a real HTTP server that misbehaves on demand (bad_server.py).

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.hpp"
#include "base/test_paths.hpp"
#include "base/text.hpp"
#include "llm/client.hpp"

namespace kerf::llm {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// The server as a child process, which ends with this one at the latest.
class BadServer {
 public:
  BadServer() {
    std::string pattern = (fs::temp_directory_path() / "kerf-llm-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    int out[2];
    if (::pipe(out) != 0) std::abort();
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(out[1], 1);
      for (const int fd : out)
        if (fd > 2) ::close(fd);
      ::execlp("python3", "python3", (source_folder() / "tests/llm/bad_server.py").c_str(), (folder_ / "log").c_str(),
               nullptr);
      ::_exit(127);
    }
    ::close(out[1]);
    std::string text;
    char byte = 0;
    while (::read(out[0], &byte, 1) == 1 && byte != '\n') text += byte;
    ::close(out[0]);
    if (text.starts_with("port ")) port_ = std::atoi(text.c_str() + 5);
    said_ = text;
  }
  ~BadServer() {
    if (!ended_) {
      ::kill(child_, SIGTERM);
      ::waitpid(child_, nullptr, 0);
    }
    fs::remove_all(folder_);
  }
  int port() const { return port_; }
  /// Why nobody can talk to it; "" when it listens.
  std::string trouble() {
    int status = 0;
    ended_ = ended_ || ::waitpid(child_, &status, WNOHANG) != 0;
    if (ended_) return "it ended with status " + std::to_string(status);
    const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int failed = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::close(probe);
    return failed == 0 ? "" : "nobody listens; it said '" + said_ + "'";
  }
  /// What it was asked under this behaviour and name.
  std::vector<nlohmann::json> requests(const std::string& behaviour, const std::string& name) const {
    std::vector<nlohmann::json> found;
    const auto text = read_file(folder_ / "log");
    for (const std::string& line : split(text ? *text : "", '\n'))
      if (auto json = nlohmann::json::parse(line, nullptr, false);
          json.is_object() && json["behaviour"] == behaviour && json["name"] == name)
        found.push_back(std::move(json));
    return found;
  }

 private:
  fs::path folder_;
  pid_t child_ = -1;
  int port_ = 0;
  bool ended_ = false;  // and was waited for
  std::string said_;
};

class EndpointTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new BadServer; }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override {
    const std::string trouble = server_->trouble();
    ASSERT_TRUE(trouble.empty()) << "the test server cannot be used: " << trouble;
    auto opened = open_curl_transport();
    ASSERT_TRUE(opened) << opened.error().message;
    transport_ = *std::move(opened);
    name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    http_.first_byte = milliseconds(700);
    http_.silence = milliseconds(700);
    http_.total = milliseconds(5000);
    retry_.first_wait = milliseconds(20);
  }

  std::unique_ptr<ChatModel> client(const std::string& behaviour, const Secret& key = {}) {
    const ModelSpec spec{
        "m",          "http://127.0.0.1:" + std::to_string(server_->port()) + "/" + behaviour + "/" + name_ + "/v1",
        std::nullopt, 32768,
        8192,         std::nullopt,
        {},           ""};
    ClientTools tools{*transport_, budget_, clock_, real_sleep()};
    tools.http = http_;
    tools.retry = retry_;
    return make_chat_client(spec, key, tools).value();
  }
  ChatOutcome ask(const std::string& behaviour, const Secret& key = {}) {
    return client(behaviour, key)->ask({{{"user", "hello"}}, 500}, cancelled_);
  }
  FailureKind kind(const ChatOutcome& outcome) {
    const auto* failed = std::get_if<ChatFailure>(&outcome);
    EXPECT_NE(failed, nullptr) << "a reply came";
    if (failed != nullptr) message_ = failed->message;
    return failed == nullptr ? FailureKind::unavailable : failed->kind;
  }
  std::string text(const ChatOutcome& outcome) {
    const auto* reply = std::get_if<ChatReply>(&outcome);
    if (reply != nullptr) return reply->text;
    ADD_FAILURE() << std::get<ChatFailure>(outcome).message;
    return "";
  }
  std::size_t asked(const std::string& behaviour) const { return server_->requests(behaviour, name_).size(); }

  static BadServer* server_;
  std::unique_ptr<HttpTransport> transport_;
  SystemClock clock_;
  Budget budget_{{0, 0}};
  HttpLimits http_;
  RetryRules retry_;
  std::atomic<bool> cancelled_{false};
  std::string name_, message_;
};
BadServer* EndpointTest::server_ = nullptr;

TEST_F(EndpointTest, AnswersAreStreamedAndCounted) {
  const auto reply = std::get<ChatReply>(ask("good"));
  EXPECT_EQ(reply.text, "hello");
  EXPECT_EQ(reply.usage, (Usage{20, 2, 0, 0, false}));
  const auto body = server_->requests("good", name_).at(0)["body"];
  EXPECT_EQ(body["max_tokens"], 500);
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["messages"][0]["content"], "hello");
}

TEST_F(EndpointTest, ThoughtsAreKeptApart) {
  const auto reply = std::get<ChatReply>(ask("thinking"));
  EXPECT_EQ(reply.text, "hello");
  EXPECT_EQ(reply.reasoning, "let me see");
  EXPECT_EQ(reply.usage.reasoning_tokens, 7);
}

TEST_F(EndpointTest, RetryAfterIsHonoured) {
  const auto reply = std::get<ChatReply>(ask("limited"));
  EXPECT_EQ(reply.attempts, 2);
  EXPECT_GE(reply.seconds, 1.0);
}

TEST_F(EndpointTest, ServerErrorsAreTriedAgain) { EXPECT_EQ(std::get<ChatReply>(ask("failing")).attempts, 3); }

TEST_F(EndpointTest, AHangingEndpointIsLeft) {
  const auto outcome = ask("hang");
  EXPECT_EQ(kind(outcome), FailureKind::timeout);
  EXPECT_LT(std::get<ChatFailure>(outcome).seconds, 5);
  EXPECT_EQ(asked("hang"), 2u);  // silence is tried again once
}

TEST_F(EndpointTest, SilenceInTheMiddleIsLeft) {
  const auto outcome = ask("silent");
  EXPECT_EQ(kind(outcome), FailureKind::timeout);
  EXPECT_EQ(std::get<ChatFailure>(outcome).text, "he");
  EXPECT_TRUE(std::get<ChatFailure>(outcome).usage.estimated);
}

TEST_F(EndpointTest, HeartBeatsAreSignsOfLife) { EXPECT_EQ(text(ask("beats")), "hello"); }

TEST_F(EndpointTest, ASlowAnswerIsAnAnswer) { EXPECT_EQ(text(ask("drip")), "hello"); }

TEST_F(EndpointTest, AnEndlessOneIsNot) {
  http_.total = milliseconds(600);
  EXPECT_EQ(kind(ask("endless")), FailureKind::timeout);
}

TEST_F(EndpointTest, ABrokenConnectionIsTriedAgain) {
  const auto outcome = ask("cut");
  EXPECT_EQ(text(outcome), "hello");
  EXPECT_EQ(asked("cut"), 2u);
}

TEST_F(EndpointTest, WhatIsNoCompletionIsMalformed) {
  for (const char* behaviour : {"wrong_json", "nonsense_event", "html"}) {
    EXPECT_EQ(kind(ask(behaviour)), FailureKind::malformed) << behaviour;
    EXPECT_EQ(asked(behaviour), 1u) << behaviour;
  }
  EXPECT_NE(message_.find("text/html"), std::string::npos);
  EXPECT_EQ(kind(ask("no_choices")), FailureKind::empty);
}

TEST_F(EndpointTest, AHundredMegabytesAreNotTaken) {
  http_.total = milliseconds(60000);
  EXPECT_EQ(kind(ask("huge")), FailureKind::too_large);
  EXPECT_EQ(kind(ask("huge_line")), FailureKind::too_large);
}

TEST_F(EndpointTest, TextIsUtf8AndMessagesDriveNoTerminal) {
  EXPECT_EQ(text(ask("invalid_utf8")),
            "a\xEF\xBF\xBD\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(kind(ask("escapes")), FailureKind::bad_request);
  EXPECT_EQ(message_.find('\033'), std::string::npos);
  EXPECT_EQ(message_.find('\007'), std::string::npos);
}

TEST_F(EndpointTest, EndedForAReasonThatIsNoAnswer) {
  const auto cut = ask("length");
  EXPECT_EQ(kind(cut), FailureKind::truncated);
  EXPECT_EQ(std::get<ChatFailure>(cut).usage.reply_tokens, 50);
  EXPECT_EQ(kind(ask("filter")), FailureKind::refused);
}

TEST_F(EndpointTest, MissingCountsAreEstimated) { EXPECT_TRUE(std::get<ChatReply>(ask("no_usage")).usage.estimated); }

TEST_F(EndpointTest, RedirectsAreNotFollowedAndGetNoKey) {
  const Secret key = Secret::from_text("sk-1234567890abcdef", "test").value();
  EXPECT_EQ(kind(ask("redirect", key)), FailureKind::bad_request);
  EXPECT_NE(message_.find("redirects"), std::string::npos);
  EXPECT_EQ(asked("redirect"), 1u);
  EXPECT_EQ(asked("good"), 0u);
}

TEST_F(EndpointTest, TheKeyIsSentAndNeverComesBack) {
  const Secret key = Secret::from_text("sk-1234567890abcdef", "test").value();
  EXPECT_EQ(kind(ask("echo_key", key)), FailureKind::auth);
  EXPECT_EQ(message_.find("sk-1234567890abcdef"), std::string::npos);
  EXPECT_EQ(text(ask("echo_key", key)), "your key: Bearer [key]");
  EXPECT_EQ(server_->requests("echo_key", name_).at(0)["key"], "Bearer sk-1234567890abcdef");
}

TEST_F(EndpointTest, EndpointsThatNameTheLimitOtherwiseAreUnderstood) { EXPECT_EQ(text(ask("picky")), "hello"); }

TEST_F(EndpointTest, NobodyThereIsANetworkFailure) {
  ClientTools tools{*transport_, budget_, clock_, real_sleep()};
  tools.retry.attempts = 1;
  auto model =
      make_chat_client({"m", "http://127.0.0.1:1/v1", std::nullopt, 32768, 8192, std::nullopt, {}, ""}, {}, tools);
  EXPECT_EQ(kind((*model)->ask({{{"user", "hello"}}, 500}, cancelled_)), FailureKind::network);
}

TEST_F(EndpointTest, IsGivenUpSoonWhenTheSearchEnds) {
  http_.first_byte = milliseconds(20000);
  http_.total = milliseconds(20000);
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(200));
    cancelled_ = true;
  });
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(kind(ask("hang")), FailureKind::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  later.join();
}

TEST_F(EndpointTest, FourAskersAtOnceStayWithinTheTokenBudget) {
  Budget budget({20000, 0});
  ClientTools tools{*transport_, budget, clock_, real_sleep()};
  tools.http.first_byte = milliseconds(10000);
  ModelSpec spec{"m",          "http://127.0.0.1:" + std::to_string(server_->port()) + "/count/" + name_ + "/v1",
                 std::nullopt, 32768,
                 8192,         std::nullopt,
                 {4, 0, 0},    ""};
  auto model = make_chat_client(spec, {}, tools).value();
  std::vector<std::thread> askers;
  std::atomic<int> ended_by_budget{0};
  for (int i = 0; i < 4; ++i)
    askers.emplace_back([&] {
      for (int question = 0; question < 100; ++question) {
        const auto outcome = model->ask({{{"user", std::string(2000, 'x')}}, 1500}, cancelled_);
        const auto* failed = std::get_if<ChatFailure>(&outcome);
        if (failed == nullptr) continue;
        EXPECT_EQ(failed->kind, FailureKind::budget) << failed->message;
        ++ended_by_budget;
        return;
      }
    });
  for (std::thread& one : askers) one.join();
  EXPECT_EQ(ended_by_budget, 4);
  EXPECT_LE(budget.spent().tokens(), 20000);
  EXPECT_GT(budget.spent().tokens(), 18000);
}

}  // namespace
}  // namespace kerf::llm
