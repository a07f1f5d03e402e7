#include "llm/completion.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kerf::llm {
namespace {

TEST(SseReader, GivesTheSameEventsHoweverTheBytesAreCut) {
  const std::string stream =
      ": hello\n\nevent: x\ndata: one\r\n\r\ndata:two\ndata: three\n\n: beat\rdata: four\r\rdata: five";
  const std::vector<std::string> want = {"one", "two\nthree", "four", "five"};
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    std::vector<std::string> events;
    const auto take = [&](std::string_view data) { events.emplace_back(data); };
    SseReader reader;
    for (std::size_t at = 0; at < stream.size(); at += piece) reader.feed(stream.substr(at, piece), take);
    reader.finish(take);
    EXPECT_EQ(events, want) << piece;
  }
}

class ReplyTest : public ::testing::Test {
 protected:
  ChatOutcome read(const std::string& type, const std::string& body, int status = 200,
                   HttpOutcome::End end = HttpOutcome::End::complete) {
    ReplyReader reader("m", request_, key_);
    const HttpHead head{status, type, std::nullopt, ""};
    if (!body.empty()) reader.feed(head, body);
    return reader.finish({end, head, "cut"});
  }
  ChatOutcome stream(const std::string& body, HttpOutcome::End end = HttpOutcome::End::complete) {
    return read("text/event-stream; charset=utf-8", body, 200, end);
  }
  FailureKind kind(const ChatOutcome& outcome) {
    const auto* failed = std::get_if<ChatFailure>(&outcome);
    EXPECT_NE(failed, nullptr);
    return failed == nullptr ? FailureKind::cancelled : failed->kind;
  }
  ChatRequest request_{{{"user", "hello there"}}, 100};
  Secret key_;
};

TEST_F(ReplyTest, PutsAStreamTogether) {
  const auto reply = std::get<ChatReply>(
      stream("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"hm\"}}]}\n\n"
             "data: {\"choices\":[{\"delta\":{\"content\":\"int \"}}]}\n\n: beat\n\n"
             "data: {\"choices\":[{\"delta\":{\"content\":\"main\"},\"finish_reason\":\"stop\"}]}\n\n"
             "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,"
             "\"completion_tokens_details\":{\"reasoning_tokens\":1}}}\n\ndata: [DONE]\n\n"));
  EXPECT_EQ(reply.text, "int main");
  EXPECT_EQ(reply.reasoning, "hm");
  EXPECT_EQ(reply.usage, (Usage{7, 3, 1, 0, false}));
}

TEST_F(ReplyTest, TakesAWholeAnswerFromEndpointsThatDoNotStream) {
  const auto reply = std::get<ChatReply>(
      read("application/json", R"({"choices":[{"message":{"content":[{"type":"text","text":"x"}],"reasoning":"r"},)"
                               R"("finish_reason":"stop"}]})"));
  EXPECT_EQ(reply.text, "x");
  EXPECT_EQ(reply.reasoning, "r");
  EXPECT_TRUE(reply.usage.estimated);
  EXPECT_GT(reply.usage.prompt_tokens, 0);
}

TEST_F(ReplyTest, EveryBadAnswerHasAKind) {
  EXPECT_EQ(kind(read("text/html", "<html>hello</html>")), FailureKind::malformed);
  EXPECT_EQ(kind(read("application/json", "{\"choices\":")), FailureKind::malformed);
  EXPECT_EQ(kind(read("application/json", "[]")), FailureKind::malformed);
  EXPECT_EQ(kind(read("application/json", "{}")), FailureKind::malformed);
  EXPECT_EQ(kind(read("application/json", "")), FailureKind::malformed);
  EXPECT_EQ(kind(read("application/json", R"({"choices":[]})")), FailureKind::empty);
  EXPECT_EQ(kind(read("application/json", R"({"choices":[17]})")), FailureKind::empty);
  EXPECT_EQ(kind(read("application/json", R"({"choices":[{"message":{"content":null}}]})")), FailureKind::empty);
  EXPECT_EQ(kind(read("application/json", R"({"choices":[{"message":{"content":" \n"}}]})")), FailureKind::empty);
  EXPECT_EQ(kind(read("application/json", R"({"error":{"message":"boom","code":429}})")), FailureKind::rate_limit);
  EXPECT_EQ(kind(stream("data: {\"error\":{\"message\":\"boom\"}}\n\n")), FailureKind::server);
  EXPECT_EQ(kind(stream("data: nonsense\n\n")), FailureKind::malformed);
  const std::string piece = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
  EXPECT_EQ(kind(stream(piece)), FailureKind::network);  // no end
  EXPECT_EQ(kind(stream(piece, HttpOutcome::End::silent)), FailureKind::timeout);
  EXPECT_EQ(kind(stream(piece, HttpOutcome::End::broken)), FailureKind::network);
  const auto cut = stream(piece + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n");
  EXPECT_EQ(kind(cut), FailureKind::truncated);
  EXPECT_EQ(std::get<ChatFailure>(cut).text, "x");
  EXPECT_GT(std::get<ChatFailure>(cut).usage.reply_tokens, 0);
  EXPECT_EQ(kind(stream("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n")),
            FailureKind::refused);
  EXPECT_EQ(kind(stream("data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"},\"finish_reason\":\"stop\"}]}\n\n")),
            FailureKind::refused);
  EXPECT_EQ(kind(read("application/json", R"({"error":{"message":"pay","code":"insufficient_quota"}})", 429)),
            FailureKind::auth);
  EXPECT_EQ(kind(read("", "", 302)), FailureKind::bad_request);
}

TEST_F(ReplyTest, AnAnswerThatEndedIsTakenThoughTheConnectionBroke) {
  const std::string all = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n";
  EXPECT_EQ(std::get<ChatReply>(stream(all, HttpOutcome::End::broken)).text, "x");
}

TEST_F(ReplyTest, HugeAnswersAreCut) {
  ReplyReader reader("m", request_, key_);
  const HttpHead head{200, "text/event-stream", std::nullopt, ""};
  const std::string piece = "data: {\"choices\":[{\"delta\":{\"content\":\"" + std::string(100000, 'x') + "\"}}]}\n\n";
  int pieces = 1;
  while (reader.feed(head, piece) && pieces < 1000) ++pieces;
  EXPECT_LT(pieces, 30);
  const auto outcome = reader.finish({HttpOutcome::End::stopped, head, ""});
  EXPECT_EQ(kind(outcome), FailureKind::too_large);
  EXPECT_LE(std::get<ChatFailure>(outcome).text.size(), 2u << 20);
}

TEST_F(ReplyTest, TextIsValidUtf8AndMessagesDriveNoTerminal) {
  const auto reply = std::get<ChatReply>(
      stream("data: {\"choices\":[{\"delta\":{\"content\":\"a\xFF\"},\"finish_reason\":\"stop\"}]}\n\n"));
  EXPECT_EQ(reply.text, "a\xEF\xBF\xBD");
  const auto failed = std::get<ChatFailure>(read("application/json", "{\"error\":{\"message\":\"\\u001b[2J\"}}", 500));
  EXPECT_EQ(failed.message.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace kerf::llm
