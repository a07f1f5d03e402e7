#include "pytorch/import_model.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "base/file.hpp"
#include "pytorch/bridge.hpp"
#include "sandbox/fake_sandbox.hpp"

namespace kerf::pytorch {
namespace {

namespace fs = std::filesystem;

/// Answers as a Python would: writes a file into the folder that the command names.
class ScriptedPython final : public Sandbox {
 public:
  std::map<std::string, std::string> answers;  ///< program: its answer.json; none: it ends without one
  ProcessOutcome outcome;
  std::vector<SandboxCommand> ran;

  Result<ProcessOutcome> run(const SandboxCommand& command) override {
    ran.push_back(command);
    const auto request = read_file(command.argv.at(5));
    if (request) request_ = *request;
    if (const auto answer = answers.find(command.argv.front()); answer != answers.end())
      KERF_TRY_VOID(write_file_atomic(command.argv.at(6), answer->second));
    return outcome;
  }
  Result<std::unique_ptr<SandboxProcess>> start(const SandboxCommand&) override {
    return fail(Errc::unavailable, "starts nothing");
  }
  const std::string& request() const { return request_; }

 private:
  std::string request_;
};

class ImportModelTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "kerf-pytorch-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    for (const char* name : {"one", "two"}) {
      fs::create_directories(root_ / name);
      const fs::path program = root_ / name / "python3";
      ASSERT_TRUE(write_file_atomic(program, "#!/bin/sh\n"));
      ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
    }
    request_.file = root_ / "model.py";
    request_.environment = {{"PATH", (root_ / "one").string() + ":" + (root_ / "two").string()},
                            {"KERF_PYTHON", (root_ / "one/python3").string()}};
  }
  void TearDown() override { fs::remove_all(root_); }
  std::string program(const char* name) { return (root_ / name / "python3").string(); }
  Error error() {
    const auto model = import_model(request_, sandbox_);
    EXPECT_FALSE(model.has_value());
    return model ? Error{} : model.error();
  }

  fs::path root_;
  ImportRequest request_;
  ScriptedPython sandbox_;
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(ImportModelTest, GivesTheTaskAndWhatIsSaidAboutIt) {
  sandbox_.answers[program("one")] =
      R"({"ok": true, "task": "name = \"m\"", "name": "m", "torch": "1.13", "training": false, "share": 0.25,
          "dropped": ["conv.bias"], "notes": ["one"],
          "uncovered": [{"operator": "grid_sample", "line": 7, "module": "warp", "count": 2}]})";
  const auto model = import_model(request_, sandbox_);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->task, "name = \"m\"");
  EXPECT_EQ(model->python, program("one"));
  EXPECT_FALSE(model->training);
  EXPECT_EQ(model->dropped, std::vector<std::string>{"conv.bias"});
  ASSERT_EQ(model->missing.size(), 1u);
  EXPECT_EQ(model->missing[0].name, "grid_sample");
  EXPECT_EQ(model->missing[0].line, 7);
  EXPECT_DOUBLE_EQ(model->share, 0.25);
}

TEST_F(ImportModelTest, TellsTheBridgeWhichNamesTheTaskLanguageHas) {
  sandbox_.answers[program("one")] = R"({"ok": true, "task": "x", "name": "m"})";
  request_.target = "cuda";
  ASSERT_TRUE(import_model(request_, sandbox_));
  EXPECT_HAS(sandbox_.request(), "\"softmax\"");
  EXPECT_HAS(sandbox_.request(), "\"target\":\"cuda\"");
}

TEST_F(ImportModelTest, RunsUnderLimitsOnTimeAndMemory) {
  sandbox_.answers[program("one")] = R"({"ok": true, "task": "x", "name": "m"})";
  request_.time_limit = std::chrono::seconds(7);
  request_.memory_bytes = 1 << 30;
  ASSERT_TRUE(import_model(request_, sandbox_));
  ASSERT_EQ(sandbox_.ran.size(), 1u);
  EXPECT_EQ(sandbox_.ran[0].limits.wall, std::chrono::seconds(7));
  EXPECT_EQ(sandbox_.ran[0].limits.memory_bytes, 1 << 30);
}

TEST_F(ImportModelTest, AProblemBeginsWithTheUsersLine) {
  sandbox_.answers[program("one")] =
      R"json({"ok": false, "kind": "forward", "message": "forward raised: ValueError: odd", "line": 12,
          "frames": [["/home/me/model.py", 12, "forward", "y = f(x)"], ["/home/me/parts.py", 3, "f", "raise ValueError"]]})json";
  const Error problem = error();
  EXPECT_EQ(problem.code, Errc::invalid_input);
  EXPECT_TRUE(problem.message.starts_with((root_ / "model.py").string() + ":12: forward raised: ValueError: odd"));
  EXPECT_HAS(problem.message, "\n  model.py:12: y = f(x)");
  EXPECT_HAS(problem.message, "\n  parts.py:3: raise ValueError");
}

TEST_F(ImportModelTest, TheNextPythonIsTriedWhenOneHasNoPyTorch) {
  request_.environment.erase("KERF_PYTHON");
  request_.environment["PATH"] = (root_ / "two").string();
  sandbox_.answers[program("two")] = R"({"ok": false, "kind": "no_torch", "message": "it cannot import torch"})";
  sandbox_.answers["/usr/bin/python3"] = R"({"ok": true, "task": "x", "name": "m"})";
  if (!fs::exists("/usr/bin/python3")) GTEST_SKIP() << "there is no /usr/bin/python3";
  const auto model = import_model(request_, sandbox_);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->python, "/usr/bin/python3");
}

TEST_F(ImportModelTest, WithoutPyTorchItSaysWhatWasTriedAndWhatToDo) {
  sandbox_.answers[program("one")] = R"({"ok": false, "kind": "no_torch", "message": "it cannot import torch"})";
  const Error problem = error();
  EXPECT_EQ(problem.code, Errc::unavailable);
  EXPECT_HAS(problem.message, program("one") + " (it cannot import torch)");
  EXPECT_HAS(problem.message, "pip install torch");
  EXPECT_HAS(problem.message, "--python");
}

TEST_F(ImportModelTest, AChosenPythonThatIsNoneIsMisuse) {
  request_.environment["KERF_PYTHON"] = "/nowhere/python";
  const Error problem = error();
  EXPECT_EQ(problem.code, Errc::invalid_input);
  EXPECT_HAS(problem.message, "'/nowhere/python' is no program");
}

TEST_F(ImportModelTest, AProcessWithoutAnAnswerIsNamed) {
  sandbox_.outcome.timed_out = true;
  EXPECT_HAS(error().message, "took more than 300 s");
  sandbox_.outcome = {};
  sandbox_.outcome.signal = 9;
  EXPECT_HAS(error().message, "was ended by signal 9");
  sandbox_.answers[program("one")] = "not JSON";
  sandbox_.outcome = {};
  sandbox_.outcome.exit_code = 3;
  EXPECT_HAS(error().message, "ended with exit code 3");
}

TEST(PythonPrograms, TheChosenOneAloneElseThoseOnThePath) {
  EXPECT_EQ(python_programs({{"KERF_PYTHON", "/bin/sh"}, {"PATH", "/usr/bin"}}), std::vector<std::string>{"/bin/sh"});
  EXPECT_TRUE(python_programs({{"KERF_PYTHON", "/nowhere"}, {"PATH", "/usr/bin"}}).empty());
}

TEST(ModelFile, IsKnownByItsEnding) {
  EXPECT_TRUE(is_model_file("a/model.py"));
  EXPECT_FALSE(is_model_file("a/model.toml"));
}

}  // namespace
}  // namespace kerf::pytorch
