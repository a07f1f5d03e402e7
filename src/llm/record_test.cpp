#include "llm/record.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/file.hpp"
#include "llm/fake_chat_model.hpp"
#include "llm/secret.hpp"

namespace kerf::llm {
namespace {

namespace fs = std::filesystem;

class RecordTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kerf-chat-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    file_ = folder_ / "chats.jsonl";
  }
  void TearDown() override { fs::remove_all(folder_); }
  ChatOutcome ask(ChatModel& model, const std::string& text) { return model.ask({{{"user", text}}, 100}, never_); }

  fs::path folder_, file_;
  std::atomic<bool> never_{false};
};

TEST_F(RecordTest, AnswersAQuestionAsItWasAnswered) {
  {
    auto recorder = open_chat_recorder(file_).value();
    auto fake = std::make_unique<FakeChatModel>("m");
    fake->answer("one\n\x1b[2J");
    fake->answer(ChatFailure{FailureKind::truncated, "ended", "tw", {5, 7, 0, 0.5, true}});
    fake->answer("again");
    auto model = make_recording_model(std::move(fake), *recorder);
    ask(*model, "a");
    ask(*model, "b");
    ask(*model, "a");
  }
  auto recording = load_chat_recording(file_).value();
  auto replay = make_replaying_model("m", *recording, ChatRecording::Match::exact);
  const auto failed = std::get<ChatFailure>(ask(*replay, "b"));
  EXPECT_EQ(failed.kind, FailureKind::truncated);
  EXPECT_EQ(failed.text, "tw");
  EXPECT_EQ(failed.usage, (Usage{5, 7, 0, 0.5, true}));
  EXPECT_EQ(std::get<ChatReply>(ask(*replay, "a")).text, "one\n\x1b[2J");
  EXPECT_EQ(std::get<ChatReply>(ask(*replay, "a")).text, "again");
  EXPECT_EQ(std::get<ChatFailure>(ask(*replay, "a")).kind, FailureKind::unavailable);
}

TEST_F(RecordTest, InOrderTakesTheNextAnswerWhereThePromptDiffers) {
  {
    auto recorder = open_chat_recorder(file_).value();
    ASSERT_TRUE(recorder->record("m", {{{"user", "took 3 ms"}}, 9}, ChatReply{"x"}));
    ASSERT_TRUE(recorder->record("other", {{{"user", "took 3 ms"}}, 9}, ChatReply{"y"}));
  }
  auto recording = load_chat_recording(file_).value();
  auto replay = make_replaying_model("m", *recording, ChatRecording::Match::in_order);
  EXPECT_EQ(std::get<ChatReply>(ask(*replay, "took 4 ms")).text, "x");
  EXPECT_TRUE(std::holds_alternative<ChatFailure>(ask(*replay, "took 4 ms")));
}

TEST_F(RecordTest, OnlyTheOwnerMayReadIt) {
  auto recorder = open_chat_recorder(file_).value();
  struct stat found{};
  ASSERT_EQ(::stat(file_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 077, 0u);
}

TEST_F(RecordTest, DamagedLinesAreNamed) {
  std::ofstream(file_) << "{\"schema\":1}\n";
  EXPECT_NE(load_chat_recording(file_).error().message.find("chats.jsonl:1"), std::string::npos);
}

TEST_F(RecordTest, KeyFilesMustBePrivate) {
  std::ofstream(file_) << "sk-abc\n";
  fs::permissions(file_, fs::perms::owner_read | fs::perms::group_read);
  const auto open = Secret::from_file(file_);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message.find("chmod 600"), std::string::npos);
  fs::permissions(file_, fs::perms::owner_read);
  EXPECT_EQ(Secret::from_file(file_).value().reveal(), "sk-abc");
  EXPECT_FALSE(Secret::from_file(folder_ / "absent"));
  EXPECT_FALSE(Secret::from_text("two words", "x"));
  EXPECT_FALSE(Secret::from_text(" ", "x"));
}

}  // namespace
}  // namespace kerf::llm
