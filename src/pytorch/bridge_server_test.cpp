#include "pytorch/bridge_server.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/file.hpp"
#include "pytorch/compare.hpp"
#include "pytorch/import_model.hpp"
#include "pytorch/scripted_server.hpp"

namespace kerf::pytorch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using test::ScriptedServer;

class BridgeServerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "kerf-server-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    for (const char* name : {"python3", "other"}) {
      ASSERT_TRUE(write_file_atomic(root_ / name, "#!/bin/sh\n"));
      ASSERT_EQ(::chmod((root_ / name).c_str(), 0755), 0);
    }
    environment_ = {{"KERF_PYTHON", (root_ / "python3").string()}};
  }
  void TearDown() override { fs::remove_all(root_); }
  std::unique_ptr<BridgeServer> server() {
    auto started = BridgeServer::start(environment_, sandbox_);
    EXPECT_TRUE(started) << started.error().message;
    return started ? *std::move(started) : nullptr;
  }
  ImportRequest asked(const std::string& file, std::chrono::milliseconds limit = std::chrono::minutes(1)) const {
    ImportRequest request;
    request.file = root_ / file;
    request.time_limit = limit;
    return request;
  }
  static void answer(const Json& asked, const std::string& text) {
    ASSERT_TRUE(write_file_atomic(asked["answer"].get<std::string>(), text));
  }

  fs::path root_;
  std::map<std::string, std::string> environment_;
  ScriptedServer sandbox_;
};

TEST_F(BridgeServerTest, AnswersManyQuestionsWithOneProcess) {
  sandbox_.play = [](const Json& asked) {
    answer(asked, R"({"ok": true, "task": "x = 1", "name": "m", "torch": "1.13"})");
    return Json{{"exit_code", 0}};
  };
  const auto bridge = server();
  EXPECT_EQ(bridge->torch(), "1.13");
  for (int i = 0; i < 3; ++i) {
    const auto model = import_model(asked("model.py"), *bridge);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->task, "x = 1");
    EXPECT_EQ(model->python, (root_ / "python3").string());
  }
  EXPECT_EQ(sandbox_.started, 1);
}

TEST_F(BridgeServerTest, ADeadChildIsTheEndOfItsQuestionOnly) {
  sandbox_.play = [](const Json& asked) {
    if (asked["id"] == 1) return Json{{"exit_code", 0}, {"signal", 9}};
    answer(asked, R"({"ok": true, "task": "x = 1", "name": "m"})");
    return Json{{"exit_code", 0}};
  };
  const auto bridge = server();
  const auto first = import_model(asked("model.py"), *bridge);
  ASSERT_FALSE(first);
  EXPECT_NE(first.error().message.find("was ended by signal 9"), std::string::npos) << first.error().message;
  EXPECT_TRUE(import_model(asked("model.py"), *bridge));
  EXPECT_EQ(sandbox_.started, 1);
}

TEST_F(BridgeServerTest, ADeadServerIsStartedAgainWithTheNextQuestion) {
  sandbox_.play = [](const Json& asked) {
    if (asked["id"] == 1) return Json::object();
    answer(asked, R"({"ok": true, "task": "x = 1", "name": "m"})");
    return Json{{"exit_code", 0}};
  };
  const auto bridge = server();
  const auto first = import_model(asked("model.py"), *bridge);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, Errc::unavailable);
  EXPECT_TRUE(import_model(asked("model.py"), *bridge));
  EXPECT_EQ(sandbox_.started, 2);
}

TEST_F(BridgeServerTest, QuestionsSideBySideGetTheirOwnAnswers) {
  sandbox_.play = [](const Json& asked) {
    answer(asked, Json{{"ok", true}, {"task", asked["request"]["file"]}, {"name", "m"}}.dump());
    return Json{{"exit_code", 0}};
  };
  const auto bridge = server();
  std::vector<std::string> tasks(8);
  {
    std::vector<std::jthread> askers;
    for (std::size_t i = 0; i < tasks.size(); ++i)
      askers.emplace_back([&, i] {
        const auto model = import_model(asked(std::to_string(i) + ".py"), *bridge);
        if (model) tasks[i] = model->task;
      });
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) EXPECT_EQ(tasks[i], (root_ / (std::to_string(i) + ".py")).string());
}

TEST_F(BridgeServerTest, WithoutPyTorchItSaysWhatWasTried) {
  sandbox_.first_lines[(root_ / "python3").string()] =
      R"({"ok": false, "kind": "no_torch", "message": "it cannot import torch"})";
  const auto none = BridgeServer::start(environment_, sandbox_);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::unavailable);
  EXPECT_NE(none.error().message.find("(it cannot import torch)"), std::string::npos) << none.error().message;
  environment_["KERF_PYTHON"] = "/nowhere/python";
  const auto misuse = BridgeServer::start(environment_, sandbox_);
  ASSERT_FALSE(misuse);
  EXPECT_EQ(misuse.error().code, Errc::invalid_input);
}

TEST_F(BridgeServerTest, TellsTheChildItsLimits) {
  Json seen;
  sandbox_.play = [&](const Json& asked) {
    seen = asked;
    return Json{{"exit_code", 0}, {"timed_out", true}};
  };
  const auto bridge = server();
  const auto model = import_model(asked("model.py", std::chrono::seconds(7)), *bridge);
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("took more than 7 s"), std::string::npos) << model.error().message;
  EXPECT_EQ(seen["time_limit_s"], 7.0);
  EXPECT_GT(seen["memory_bytes"].get<std::int64_t>(), 0);
}

}  // namespace
}  // namespace kerf::pytorch
