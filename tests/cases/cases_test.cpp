// Runs the built `kerf` on every case file and holds its verdicts to what the files expect. A new case needs no C++.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/test_paths.hpp"
#include "case_file.hpp"

namespace kerf::cases {

static void PrintTo(const Group& group, std::ostream* out) { *out << group.name; }  // gtest looks for it by this name

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kTests = source_folder() / "tests";

struct Output {
  int exit_code = -1;
  std::string out, err;
};

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Output run(const std::vector<std::string>& words) {
  const fs::path log = fs::temp_directory_path() / ("kerf_cases_" + std::to_string(::getpid()) + ".err");
  std::string command = "timeout -k 5 900";
  for (const auto& word : words) command += " " + quoted(word);
  command += " 2>" + quoted(log.string());
  Output output;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  char block[4096];
  for (std::size_t count; (count = fread(block, 1, sizeof block, pipe)) > 0;) output.out.append(block, count);
  const int status = pclose(pipe);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  output.err = read_all(log);
  fs::remove(log);
  return output;
}

/// "" when the target can be used here, otherwise why not.
std::string missing(const std::string& target) {
  static const Output doctor = run({kerf_program(), "doctor", "--json"});
  try {
    const Json survey = Json::parse(doctor.out);
    for (const auto& entry : survey.at("targets"))
      if (entry.at("target") == target) return entry.at("ready").get<bool>() ? "" : entry.value("reason", "not ready");
  } catch (const std::exception& error) {
    ADD_FAILURE() << "kerf doctor --json: " << error.what() << "\n" << doctor.out << doctor.err;
  }
  return "kerf knows no target " + target;
}

/// Verdicts by kernel path.
using Verdicts = std::map<std::string, Json>;

Output judge(const std::vector<Case>& cases, Verdicts& verdicts) {
  std::vector<std::string> words = {kerf_program(), "eval", cases.front().task.string()};
  for (const auto& one : cases) words.push_back(one.kernel.string());
  words.insert(words.end(),
               {"--target", cases.front().target, "--json", "--no-cache", "--set", "measure.time_limit_ms=300"});
  Output output = run(words);
  std::istringstream lines(output.out);
  for (std::string line; std::getline(lines, line);) {
    Json verdict = Json::parse(line, nullptr, false);
    if (verdict.is_object() && verdict.contains("kernel"))
      verdicts.insert_or_assign(verdict["kernel"].get<std::string>(), verdict);
  }
  return output;
}

/// What was judged and how many verdicts were right, over the whole run.
struct Tally {
  std::map<std::string, std::pair<int, int>> by_kind;  // right, all

  void print() const {
    for (const auto& [kind, counts] : by_kind)
      std::cout << kind << ": " << counts.first << " of " << counts.second
                << (kind == "hostile"  ? " refused"
                    : kind == "honest" ? " accepted"
                                       : " as expected")
                << "\n";
  }
};
Tally tally;  // gtest offers no other way from a test to the end of the program

class Summary final : public testing::Environment {
 public:
  void TearDown() override { tally.print(); }
};
[[maybe_unused]] const auto* const summary = testing::AddGlobalTestEnvironment(new Summary);

void hold_to_expectation(const Case& one, const Json& verdict) {
  const std::string outcome = verdict.value("outcome", "(none)"), gate = verdict.value("gate", "");
  const bool expected = std::find(one.expect.begin(), one.expect.end(), outcome) != one.expect.end();
  auto& counts = tally.by_kind[one.kind];
  ++counts.second;
  counts.first += one.kind == "hostile" ? outcome != "measured" : expected;
  std::cout << "  " << one.name << ": " << outcome << (gate.empty() ? "" : " at " + gate) << "\n";
  std::string wanted;
  for (const auto& word : one.expect) wanted += (wanted.empty() ? "" : " or ") + word;
  EXPECT_TRUE(expected) << one.name << " (" << one.why << "): expected " << wanted << ", got " << outcome
                        << " at gate '" << gate << "': " << verdict.value("message", "");
  if (!one.gate.empty() && expected) {
    EXPECT_EQ(gate, one.gate) << one.name << " (" << one.why << "): " << verdict.value("message", "");
  }
}

class Cases : public testing::TestWithParam<Group> {};

TEST_P(Cases, AreJudgedAsExpected) {
  const std::vector<Case>& cases = GetParam().cases;
  if (const std::string reason = missing(cases.front().target); !reason.empty()) {
    ASSERT_NE(cases.front().target, "cpu")
        << "every machine has a processor and this suite needs a compiler: " << reason;
    GTEST_SKIP() << reason;
  }
  Verdicts verdicts;
  Output output = judge(cases, verdicts);
  EXPECT_EQ(output.exit_code, 0) << output.err;
  for (const auto& one : cases) {
    // When the command broke off, the kernels behind the break are judged one by one, so that only the culprit fails.
    if (!verdicts.contains(one.kernel.string()) && cases.size() > 1) output = judge({one}, verdicts);
    const auto found = verdicts.find(one.kernel.string());
    if (found == verdicts.end()) {
      ++tally.by_kind[one.kind].second;
      ADD_FAILURE() << one.name << " (" << one.why << "): no verdict, exit code " << output.exit_code << ": "
                    << output.err;
      continue;
    }
    hold_to_expectation(one, found->second);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Cases, testing::ValuesIn(grouped(read_cases(kTests / "cases", kTests))),
                         [](const auto& instance) { return instance.param.name; });

TEST(CaseFiles, CoverEveryKernelOfTheSuites) {
  std::set<fs::path> judged;
  for (const auto& one : read_cases(kTests / "cases", kTests)) judged.insert(one.kernel);
  for (const char* folder : {"hostile", "honest", "cases/kernels"})
    for (const auto& entry : fs::recursive_directory_iterator(kTests / folder))
      if (entry.is_regular_file() && entry.path().extension() != ".md") {
        EXPECT_TRUE(judged.contains(fs::canonical(entry.path()))) << entry.path() << " has no case file";
      }
}

TEST(CaseFiles, AreAtLeastAsManyAsPromised) {
  std::map<std::string, int> count;
  for (const auto& one : read_cases(kTests / "cases", kTests)) ++count[one.kind];
  EXPECT_GE(count["hostile"], 60);
  EXPECT_GE(count["honest"], 30);
}

}  // namespace
}  // namespace kerf::cases
