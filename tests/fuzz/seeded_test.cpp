// A few seconds of fuzzing with a fixed seed, for every change; the libFuzzer targets beside it run for as long as one
// likes.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "base/file.hpp"
#include "base/test_paths.hpp"
#include "ir/expression/expression.hpp"
#include "mutate.hpp"
#include "properties.hpp"
#include "task/task.hpp"

namespace kerf::fuzz {
namespace {

using Property = std::string (*)(std::string_view);

std::vector<std::string> read_all(const std::filesystem::path& folder, const std::vector<std::string>& extensions) {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (std::find(extensions.begin(), extensions.end(), entry.path().extension()) != extensions.end())
      texts.push_back(read_file(entry.path()).value());
  std::sort(texts.begin(), texts.end());  // folders are listed in no particular order
  return texts;
}

const std::filesystem::path kRoot = source_folder();

std::vector<std::string> dictionary_with(std::vector<std::string> words) {
  for (const auto& function : ir::expression_functions()) words.push_back(function.name + "(");
  return words;
}

void run(const std::vector<std::string>& corpus, const std::vector<std::string>& dictionary, Property property) {
  constexpr int kRounds = 200000;
  constexpr std::chrono::milliseconds kBudget{5000};
  ASSERT_FALSE(corpus.empty());
  for (const auto& text : corpus) ASSERT_EQ(property(text), "") << text;
  const auto start = std::chrono::steady_clock::now();
  Rng rng(20261115);
  int round = 0;
  for (; round < kRounds && std::chrono::steady_clock::now() - start < kBudget; ++round) {
    const std::string text = mutate(corpus, dictionary, rng);
    const auto before = std::chrono::steady_clock::now();
    const std::string wrong = property(text);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
    ASSERT_EQ(wrong, "") << "round " << round << ":\n" << text;
    ASSERT_LT(took.count(), 2.0) << "round " << round << " took too long:\n" << text;
  }
  EXPECT_GT(round, 500) << "the property is too slow to be fuzzed";
  testing::Test::RecordProperty("rounds", round);
}

TEST(SeededFuzz, ExpressionsNeverCrashTheFrontEnd) {
  auto corpus = read_all(kRoot / "tests/fuzz/corpus/expressions", {".txt"});
  for (const auto& function : ir::expression_functions()) corpus.push_back("y = " + function.signature);
  run(corpus,
      dictionary_with({"axis=-1", "keepdims=true", "[0, 1]", "rows", "cols", "==", "@", "**", "//", "%", ":", ";", "\n",
                       "#", ",", ")", "\"ij,jk->ik\""}),
      check_expression);
}

TEST(SeededFuzz, TaskFilesNeverCrashTheReader) {
  auto corpus = read_all(kRoot / "tasks", {".toml"});
  for (const auto& sample : read_all(kRoot / "tests/fuzz/corpus/tasks", {".toml"})) corpus.push_back(sample);
  // C++ references name files that are not here; every other sample is valid text.
  std::erase_if(corpus, [](const std::string& text) { return text.find("cpp = ") != std::string::npos; });
  run(corpus,
      dictionary_with({"[inputs]", "[shapes]", "[reference]", "[outputs]", "[distributions]", "[baselines.a]",
                       "weight = 1", "targets = [\"cpu\"]", "expr = ", "\"f32[rows, cols]\"", "integers(0, 9)",
                       "cpp = \"ref.cpp\"", "\"\"\"", "'''", "= {", "1979-05-27"}),
      check_task);
}

TEST(SeededFuzz, KernelHeadersNeverCrashTheReader) {
  auto corpus = read_all(kRoot / "tests/fuzz/corpus/candidates", {".cu", ".cl", ".cpp"});
  for (const auto& kernel : read_all(kRoot / "tasks", {".cpp", ".cl", ".cu"})) corpus.push_back(kernel);
  run(corpus,
      {"/* kerf", "*/", "target:", "tune:", "require:", "scratch:", "launch:", "<<<", ">>>", "ceil_div(", "next_pow2(",
       "min(", "f32[rows]", "none", "{1, 2}", "\n", "rows", "cols", "(x, y)"},
      check_candidate);
}

}  // namespace
}  // namespace kerf::fuzz
