#include "store/run_store.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "store/database.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using Access = RunStore::Access;

class RunStoreTest : public testing::Test {
 protected:
  RunStoreTest() {
    std::string pattern = (fs::temp_directory_path() / "kerf-store-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    folder_ = root_ / "run";
  }
  ~RunStoreTest() override { fs::remove_all(root_); }

  std::string events() const { return read_file(folder_ / "events.jsonl").value_or(""); }

  fs::path root_, folder_;
};

Step make_step(std::int64_t number) {
  Step step;
  step.number = number;
  step.stage = Stage::search;
  step.proposer = "builtin";
  step.operation = "parameter";
  step.change = "g0 BLOCK 128 -> 256";
  if (number > 1) step.parents = {number - 1};
  step.name = "matmul/tiled";
  step.source = "/* kerf\ntarget: cpu\n*/\n// " + std::to_string(number) + "\n";
  step.genome = R"({"form":0})";
  step.tunables = {{"BLOCK", 256}, {"VEC", 4}};
  step.direction = "memory+1";
  step.asked.start_number = 3;
  step.asked.seed = ~std::uint64_t{0} - 1;
  if (number > 1) {
    step.asked.parent = number - 1;
    step.asked.inspirations = {1, number - 1};
    step.asked.failures = {number - 1};
  }
  step.provenance = {"some-model", "prompt-4", {"skill 1", "experience 2"}, 1200, 300, 0.25, 12.5};
  step.evaluation.task = "matmul";
  step.evaluation.target = "cpu";
  step.evaluation.candidate = step.name;
  step.evaluation.candidate_id = sha256_hex(step.source);
  step.evaluation.seed = ~std::uint64_t{0};
  Measurement measurement;
  measurement.speedup = {"naive", 1.0 + static_cast<double>(number) / 10, 1.0, 3.0};
  measurement.shapes.push_back({"default", 1, {10, 9, 11, 30}, {{"naive", {20, 19, 21, 30}}}, {}, std::nullopt});
  step.evaluation.outcome = measurement;
  step.cell = {1, 2, 0};
  step.descriptors = R"({"vector_bytes":32})";
  step.decision = "first of its cell";
  step.kept = true;
  step.seconds = 0.25 * static_cast<double>(number);
  return step;
}

TEST_F(RunStoreTest, GivesBackEveryFieldOfAStep) {
  {
    auto store = create_run_store(folder_).value();
    ASSERT_TRUE(store->append(make_step(1)));
    Step step = make_step(2);
    step.parents = {1, 1};
    step.kept = false;
    ASSERT_TRUE(store->append(step));
  }
  auto store = open_run_store(folder_, Access::read).value();
  const auto steps = store->steps().value();
  ASSERT_EQ(steps.size(), 2u);
  const Step want = make_step(2);
  const Step& got = steps[1];
  EXPECT_EQ(got.number, 2);
  EXPECT_EQ(got.stage, want.stage);
  EXPECT_EQ(got.proposer, want.proposer);
  EXPECT_EQ(got.operation, want.operation);
  EXPECT_EQ(got.change, want.change);
  EXPECT_EQ(got.parents, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(got.name, want.name);
  EXPECT_EQ(got.source, want.source);
  EXPECT_EQ(got.genome, want.genome);
  EXPECT_EQ(got.tunables, want.tunables);
  EXPECT_EQ(got.direction, want.direction);
  EXPECT_EQ(got.asked, want.asked);
  EXPECT_EQ(got.provenance, want.provenance);
  EXPECT_EQ(to_json(got.evaluation), to_json(want.evaluation));
  EXPECT_EQ(got.cell, want.cell);
  EXPECT_EQ(got.descriptors, want.descriptors);
  EXPECT_EQ(got.decision, want.decision);
  EXPECT_FALSE(got.kept);
  EXPECT_TRUE(steps[0].kept);
  EXPECT_EQ(got.seconds, want.seconds);
  EXPECT_EQ(store->step(1).value().source, make_step(1).source);
}

TEST_F(RunStoreTest, AStepThatDoesNotExistIsRefusedWithTheRange) {
  auto store = create_run_store(folder_).value();
  EXPECT_NE(store->step(1).error().message.find("no steps yet"), std::string::npos);
  ASSERT_TRUE(store->append(make_step(1)));
  const auto error = store->step(9).error();
  EXPECT_EQ(error.code, Errc::not_found);
  EXPECT_NE(error.message.find("1 to 1"), std::string::npos);
}

TEST_F(RunStoreTest, FactsAreReplacedAndSurvive) {
  {
    auto store = create_run_store(folder_).value();
    EXPECT_EQ(store->get("task").value(), std::nullopt);
    ASSERT_TRUE(store->set("task", "matmul"));
    ASSERT_TRUE(store->set("task", "softmax"));
    ASSERT_TRUE(store->set("empty", ""));
  }
  auto store = open_run_store(folder_, Access::write).value();
  EXPECT_EQ(store->get("task").value(), "softmax");
  EXPECT_EQ(store->get("empty").value(), "");
  EXPECT_EQ(store->facts().value(), (std::map<std::string, std::string>{{"task", "softmax"}, {"empty", ""}}));
}

TEST_F(RunStoreTest, BytesThatAreNotTextComeBackUnchanged) {
  const std::string bytes("\xff\xfe\0 half \xe2\x82", 11);
  auto store = create_run_store(folder_).value();
  Step step = make_step(1);
  step.source = bytes;
  step.evaluation.candidate_id = sha256_hex(bytes);
  step.name = bytes;
  step.change = bytes;
  step.decision = bytes;
  step.evaluation.outcome = BuildFailed{"default", "error: \xff\xfe"};
  step.seconds = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(store->append(step));
  ASSERT_TRUE(store->set(bytes, bytes));
  ASSERT_TRUE(store->note("stopped", {{"why", bytes}}));
  const Step got = store->step(1).value();
  EXPECT_EQ(got.source, bytes);
  EXPECT_EQ(got.name, bytes);
  EXPECT_EQ(got.change, bytes);
  EXPECT_EQ(got.decision, bytes);
  EXPECT_TRUE(std::isnan(got.seconds));
  EXPECT_EQ(store->get(bytes).value(), bytes);
  // The event log is JSON, so there the text is repaired instead: one line per event.
  EXPECT_EQ(split(events(), '\n').size(), 3u);
}

TEST_F(RunStoreTest, ASecondWriterIsRefusedByTheNameOfTheFirst) {
  auto store = create_run_store(folder_).value();
  const auto second = open_run_store(folder_, Access::write);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::invalid_input);
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos);
  EXPECT_FALSE(create_run_store(folder_));
  store.reset();
  EXPECT_TRUE(open_run_store(folder_, Access::write));
}

TEST_F(RunStoreTest, ReadersSeeWhatAWriterAppends) {
  auto writer = create_run_store(folder_).value();
  auto reader = open_run_store(folder_, Access::read).value();
  EXPECT_EQ(reader->steps().value().size(), 0u);
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(writer->append(make_step(i)));
    ASSERT_EQ(reader->steps().value().size(), static_cast<std::size_t>(i));
  }
}

TEST_F(RunStoreTest, ARunWhoseFolderIsMovedAwayEndsAndLosesNothing) {
  auto store = create_run_store(folder_).value();
  ASSERT_TRUE(store->append(make_step(1)));
  fs::rename(folder_, root_ / "elsewhere");
  const auto lost = store->append(make_step(2));
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message.find("was moved or removed"), std::string::npos);
  store.reset();
  EXPECT_FALSE(fs::exists(folder_));
  EXPECT_EQ(open_run_store(root_ / "elsewhere", Access::write).value()->steps()->size(), 1u);
}

TEST_F(RunStoreTest, AnEventLogThatIsAPipeIsRefused) {
  create_run_store(folder_).value().reset();
  fs::remove(folder_ / "events.jsonl");
  ASSERT_EQ(::mkfifo((folder_ / "events.jsonl").c_str(), 0600), 0);
  const auto opened = open_run_store(folder_, Access::write);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("not a plain file"), std::string::npos);
}

TEST_F(RunStoreTest, AFolderWithOtherThingsIsNotTaken) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "thesis.tex") << "x";
  const auto store = create_run_store(folder_);
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find("thesis.tex"), std::string::npos);
}

TEST_F(RunStoreTest, AnEmptyFolderAndACreationCutShortAreTaken) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "kerf.db") << "";
  std::ofstream(folder_ / "kerf.lock") << "1\n";
  auto store = create_run_store(folder_);
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE((*store)->append(make_step(1)));
  store->reset();
  EXPECT_NE(create_run_store(folder_).error().message.find("--resume"), std::string::npos);
}

/// Files of this process grow no further than that while it lives, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  sighandler_t handler_;
};

TEST_F(RunStoreTest, ARunThatFindsNoRoomLeavesNothingBehind) {
  for (const rlim_t bytes : {0, 100, 5000, 20000}) {
    std::string refusal;
    {
      const FileSizeLimit full(bytes);
      const auto store = create_run_store(folder_);
      if (!store) refusal = store.error().message;
    }
    EXPECT_NE(refusal.find("free some space there"), std::string::npos) << bytes << ": " << refusal;
    EXPECT_TRUE(fs::is_empty(folder_)) << bytes;
  }
  EXPECT_TRUE(create_run_store(folder_)) << "with room again";
}

TEST_F(RunStoreTest, ARunThatCannotBeWrittenKeepsItsFiles) {
  ASSERT_TRUE(create_run_store(folder_).value()->append(make_step(1)));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) ++files;
  {
    const FileSizeLimit full(0);
    EXPECT_FALSE(open_run_store(folder_, Access::write));
  }
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) --files;
  EXPECT_EQ(files, 0u);
  EXPECT_EQ(open_run_store(folder_, Access::write).value()->steps().value().size(), 1u);
}

TEST_F(RunStoreTest, SomethingElseThanARunIsRefused) {
  EXPECT_EQ(open_run_store(folder_, Access::read).error().code, Errc::not_found);
  fs::create_directories(folder_);
  std::ofstream(folder_ / "kerf.db") << std::string(5000, 'x');
  EXPECT_FALSE(open_run_store(folder_, Access::read));
  EXPECT_FALSE(open_run_store(folder_, Access::write));
}

TEST_F(RunStoreTest, ADatabaseOfANewerSchemaIsRefused) {
  create_run_store(folder_).value();
  {
    auto database = store::Database::open(folder_ / "kerf.db", store::Database::Mode::write).value();
    ASSERT_TRUE(database.execute("PRAGMA user_version = 99"));
  }
  for (const auto access : {Access::read, Access::write}) {
    const auto store = open_run_store(folder_, access);
    ASSERT_FALSE(store);
    EXPECT_NE(store.error().message.find("newer kerf (schema 99"), std::string::npos);
  }
}

TEST_F(RunStoreTest, RunsOfTheFirstSchemaCanBeReadAndContinued) {
  {
    auto store = create_run_store(folder_).value();
    Step step = make_step(1);
    step.stage = Stage::tune;
    step.operation = "look";  // what quick timings were called
    ASSERT_TRUE(store->append(step));
  }
  {
    auto database = store::Database::open(folder_ / "kerf.db", store::Database::Mode::write).value();
    ASSERT_TRUE(
        database.execute("ALTER TABLE steps DROP COLUMN asked; ALTER TABLE steps DROP COLUMN provenance;"
                         "DROP TABLE exchanges; PRAGMA user_version = 1"));
  }
  const Step old = open_run_store(folder_, Access::read).value()->step(1).value();
  EXPECT_TRUE(is_trial(old));
  EXPECT_EQ(old.asked, Asked{});
  auto store = open_run_store(folder_, Access::write).value();
  ASSERT_TRUE(store->append(make_step(2)));
  EXPECT_EQ(store->step(1).value().provenance, Provenance{});
  EXPECT_EQ(store->step(2).value().provenance, make_step(2).provenance);
}

TEST_F(RunStoreTest, ConversationsAreKeptWithTheirStep) {
  Step step = make_step(1);
  step.exchanges.push_back({"policy",
                            "m",
                            "draft-1",
                            1,
                            {{"system", "s"}, {"user", "u\n\"q\""}},
                            "a\x1b[2J",
                            "r",
                            "reply",
                            7,
                            5,
                            0.25,
                            1.5});
  step.exchanges.push_back({"policy", "m", "repair-1", 2, {{"user", "again"}}, "", "", "truncated", 8, 6, 0, 2});
  {
    auto store = create_run_store(folder_).value();
    ASSERT_TRUE(store->append(step));
    ASSERT_TRUE(store->append(make_step(2)));
  }
  auto store = open_run_store(folder_, Access::read).value();
  EXPECT_EQ(store->exchanges(1).value(), step.exchanges);
  EXPECT_TRUE(store->exchanges(2).value().empty());
  EXPECT_TRUE(store->step(1).value().exchanges.empty());  // they are long
}

TEST_F(RunStoreTest, RunsOfTheSecondSchemaHaveNoConversationsUntilTheyGoOn) {
  {
    ASSERT_TRUE(create_run_store(folder_).value()->append(make_step(1)));
  }
  {
    auto database = store::Database::open(folder_ / "kerf.db", store::Database::Mode::write).value();
    ASSERT_TRUE(database.execute("DROP TABLE exchanges; PRAGMA user_version = 2"));
  }
  EXPECT_TRUE(open_run_store(folder_, Access::read).value()->exchanges(1).value().empty());
  auto store = open_run_store(folder_, Access::write).value();
  Step step = make_step(2);
  step.exchanges.resize(1);
  ASSERT_TRUE(store->append(step));
  EXPECT_EQ(store->exchanges(2).value().size(), 1u);
}

TEST_F(RunStoreTest, ATornMissingOrForeignEventLineIsRepaired) {
  {
    auto store = create_run_store(folder_).value();
    ASSERT_TRUE(store->note("started", {{"seed", "1"}}));
    for (int i = 1; i <= 3; ++i) ASSERT_TRUE(store->append(make_step(i)));
  }
  const std::string whole = events();
  ASSERT_EQ(split(whole, '\n').size(), 5u);
  const auto reopened = [&](const std::string& text) {
    std::ofstream(folder_ / "events.jsonl", std::ios::trunc) << text;
    EXPECT_TRUE(open_run_store(folder_, Access::write));
    return events();
  };
  for (const std::size_t size :
       {whole.size() - 1, whole.size() - 7, whole.find('\n') + 1, whole.find('\n'), std::size_t{0}})
    EXPECT_EQ(reopened(whole.substr(0, size)), whole) << size;
  EXPECT_EQ(reopened(whole.substr(0, whole.size() - 20) + std::string(20, '\0')), whole);
  EXPECT_FALSE(fs::exists(folder_ / "events.jsonl.damaged"));
  EXPECT_EQ(reopened("something else\n"), whole);
  EXPECT_EQ(read_file(folder_ / "events.jsonl.damaged").value(), "something else\n");
  fs::remove(folder_ / "events.jsonl");
  EXPECT_TRUE(open_run_store(folder_, Access::read));
  EXPECT_FALSE(fs::exists(folder_ / "events.jsonl"));  // readers change nothing
}

TEST_F(RunStoreTest, ARunInAFolderNobodyMayWriteToCanBeRead) {
  ASSERT_TRUE(create_run_store(folder_).value()->append(make_step(1)));
  ::chmod(root_.c_str(), 0755);
  ::chmod(folder_.c_str(), 0555);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::getuid() == 0 && ::seteuid(65534) != 0) ::_exit(3);
    const auto store = open_run_store(folder_, Access::read);
    if (!store) std::fprintf(stderr, "%s\n", store.error().message.c_str());
    ::_exit(store && (*store)->steps() && (*store)->steps()->size() == 1 ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  fs::permissions(folder_, fs::perms::owner_all);
}

/// A process that goes on appending and reports each number through a pipe once `append` returned.
pid_t start_writer(const fs::path& folder, int report) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  auto opened = fs::exists(folder / "kerf.db") ? open_run_store(folder, Access::write) : create_run_store(folder);
  if (!opened) ::_exit(1);
  auto steps = (*opened)->steps();
  if (!steps) ::_exit(2);
  for (std::int64_t number = static_cast<std::int64_t>(steps->size()) + 1;; ++number) {
    if (!(*opened)->append(make_step(number)) || !(*opened)->set("best_step", std::to_string(number))) ::_exit(3);
    if (::write(report, &number, sizeof number) != sizeof number) ::_exit(4);
  }
}

TEST_F(RunStoreTest, NothingReportedIsLostWhenTheWriterIsKilledAtAnyMoment) {
  std::int64_t before = 0;
  unsigned random = 12345;
  for (int round = 0; round < 60 || (before <= 60 && round < 3000);
       ++round) {  // a slow machine needs more rounds to get that far
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = start_writer(folder_, ends[1]);
    ::close(ends[1]);
    random = random * 1664525 + 1013904223;
    ::usleep(1000 + (random >> 8) % 25'000);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "round " << round << ": the writer gave up by itself: " << WEXITSTATUS(status);
    std::int64_t reported = before, number = 0;
    while (::read(ends[0], &number, sizeof number) == sizeof number) {
      ASSERT_EQ(number, reported + 1);  // continued where it was, without repeating or leaving out
      reported = number;
    }
    ::close(ends[0]);
    if (!fs::exists(folder_ / "kerf.db")) continue;
    auto store = open_run_store(folder_, Access::write);
    ASSERT_TRUE(store) << store.error().message;
    const auto steps = (*store)->steps().value();
    ASSERT_GE(static_cast<std::int64_t>(steps.size()), reported);
    ASSERT_LE(static_cast<std::int64_t>(steps.size()), reported + 1);  // at most one was committed but not yet reported
    for (std::size_t i = 0; i < steps.size(); ++i) {
      ASSERT_EQ(steps[i].number, static_cast<std::int64_t>(i) + 1);
      ASSERT_EQ(steps[i].source, make_step(steps[i].number).source);
    }
    ASSERT_EQ(split(events(), '\n').size(), steps.size() + 1);
    before = static_cast<std::int64_t>(steps.size());
  }
  EXPECT_GT(before, 60);
}

}  // namespace
}  // namespace kerf
