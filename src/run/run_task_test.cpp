#include "run/run_task.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTwice = R"(name = "twice"
[inputs]
x = "f32[n]"
[outputs]
y = "f32[n]"
[shapes]
default = { n = 64 }
[reference]
cpp = "../../shared/twice.cpp"
)";
constexpr const char* kReference =
    "template <class real> void reference(const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = x[i] + x[i]; "
    "}\n";

TEST(RunTask, IsRestoredFromItsTextsAlone) {
  std::string pattern = (fs::temp_directory_path() / "kerf-task-test-XXXXXX").string();
  const fs::path root = ::mkdtemp(pattern.data());
  ASSERT_TRUE(write_file_atomic(root / "a/b/twice.toml", kTwice));
  ASSERT_TRUE(write_file_atomic(root / "shared/twice.cpp", kReference));
  const auto text = read_task(root / "a/b/twice.toml");
  ASSERT_TRUE(text) << text.error().message;
  fs::remove_all(root);
  const auto restored = restore_task(text->source, task_files(text->task), text->task.name);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->id, text->task.id);
  EXPECT_EQ(restored->cpp->source, kReference);
}

TEST(RunTask, RefusesFilesThatCannotBePutBack) {
  EXPECT_FALSE(restore_task(kTwice, R"({"/etc/passwd": "x"})", "twice"));
  EXPECT_FALSE(restore_task(kTwice, R"({"../../shared/twice.cpp": 3})", "twice"));
  EXPECT_FALSE(restore_task(kTwice, "[", "twice"));
}

TEST(RunTask, KeepsTheModelItWasMadeFrom) {
  const auto text =
      stored_task({{"task", "x"},
                   {"task_source", "name = \"x\"\n[inputs]\na = \"f32[4]\"\n[reference]\nexpr = \"y = a\""},
                   {"model", "{}"}},
                  "runs/x");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->model, "{}");
}

TEST(RunTask, SaysWhenARunHoldsNone) {
  const auto none = stored_task({{"task", "x"}}, "runs/x");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("runs/x does not hold its task"), std::string::npos);
}

}  // namespace
}  // namespace kerf
