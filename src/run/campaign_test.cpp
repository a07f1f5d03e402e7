#include "run/campaign.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "ir/expression/expression.hpp"

namespace kerf {
namespace {

TaskText campaign_task(const std::string& name, const std::string& expression) {
  TaskText text;
  text.task.name = name;
  text.task.inputs = {*ir::parse_tensor_type("x", "f32[n, n]")};
  text.task.shapes = {{"default", {{"n", 64}}, 1, {}}};
  text.task.graph =
      ir::parse_expression("y = " + expression, text.task.inputs, {"y"}, {text.task.shapes[0].symbols}).value();
  return text;
}

class NoView final : public CampaignObserver {
 public:
  void task_started(int, std::size_t, const CampaignEntry&) override {}
  RunObserver& run_observer() override { return none_; }
  void task_finished(int, std::size_t, const CampaignEntry&) override {}
  void skill_rechecked(const RecheckedSkill&) override {}

 private:
  NullRunObserver none_;
};

TEST(Campaign, EasyTasksHaveFewAndCheapOperators) {
  const double map = difficulty(campaign_task("a", "exp(x)").task),
               rows = difficulty(campaign_task("b", "softmax(x)").task);
  const double product = difficulty(campaign_task("c", "matmul(x, x)").task);
  EXPECT_LT(map, rows);
  EXPECT_LT(rows, product + difficulty(campaign_task("d", "softmax(matmul(x, x))").task));
  EXPECT_LT(product, difficulty(campaign_task("d", "softmax(matmul(x, x))").task));
  EXPECT_GT(difficulty(Task{}), product) << "tasks without an expression come last";
}

TEST(Campaign, TasksAreToldApartByName) {
  CampaignRequest request;
  request.tasks = {campaign_task("a", "exp(x)"), campaign_task("a", "tanh(x)")};
  request.folder = std::filesystem::path(testing::TempDir()) / "kerf_campaign_twice";
  NoView view;
  const std::atomic<bool> interrupted{false};
  const auto result = run_campaign(request, {}, view, interrupted);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("two tasks are named 'a'"), std::string::npos) << result.error().message;
  EXPECT_FALSE(std::filesystem::exists(request.folder));
}

TEST(Campaign, ATaskThatNoMindCanSearchIsRefusedAtOnce) {
  CampaignRequest request;
  request.tasks = {campaign_task("a", "exp(x)"), campaign_task("own", "exp(x)")};
  request.tasks[1].task.graph.reset();
  request.folder = std::filesystem::path(testing::TempDir()) / "kerf_campaign_cpp";
  NoView view;
  const std::atomic<bool> interrupted{true};
  const auto result = run_campaign(request, {}, view, interrupted);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::invalid_input);
  EXPECT_NE(result.error().message.find("task 'own' has a C++ reference"), std::string::npos) << result.error().message;
  EXPECT_FALSE(std::filesystem::exists(request.folder));
}

TEST(Campaign, TheFolderOfARunIsRefused) {
  CampaignRequest request;
  request.tasks = {campaign_task("a", "exp(x)")};
  request.folder = std::filesystem::path(testing::TempDir()) / "kerf_campaign_run";
  ASSERT_TRUE(write_file_atomic(request.folder / "kerf.db", "a run"));
  NoView view;
  const std::atomic<bool> interrupted{true};
  const auto result = run_campaign(request, {}, view, interrupted);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::invalid_input);
  EXPECT_NE(result.error().message.find("holds a run already"), std::string::npos) << result.error().message;
  EXPECT_FALSE(std::filesystem::exists(request.folder / "campaign.json"));
  std::filesystem::remove_all(request.folder);
}

TEST(Campaign, AFolderOfAnotherKindIsRefused) {
  CampaignRequest request;
  request.tasks = {campaign_task("a", "exp(x)")};
  request.folder = std::filesystem::path(testing::TempDir()) / "kerf_campaign_other";
  NoView view;
  const std::atomic<bool> interrupted{true};
  for (const char* text :
       {"[]", "{", R"({"schema": 1, "target": "cuda", "seed": "1", "rounds": 2, "evaluations": 9, "tasks": []})",
        R"({"schema": 1, "target": "cpu", "seed": "x", "rounds": 2, "evaluations": 9, "tasks": []})",
        R"({"schema": 1, "target": "cpu", "seed": "1", "rounds": 2, "evaluations": 9, "tasks": [{"task": "a"}]})"}) {
    ASSERT_TRUE(write_file_atomic(request.folder / "campaign.json", text));
    EXPECT_FALSE(run_campaign(request, {}, view, interrupted)) << text;
  }
  std::filesystem::remove(request.folder / "campaign.json");
  const auto stopped = run_campaign(request, {}, view, interrupted);
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_TRUE(stopped->interrupted);
}

TEST(Campaign, ATurnGetsAnEqualShareOfWhatIsLeft) {
  RunConfig limits;
  limits.search.seconds = 100;
  limits.minds.budget = {1000, 0};
  std::vector<CampaignEntry> entries(2);
  const CampaignShare first = share_of(limits, entries, entries[0], 4);
  EXPECT_DOUBLE_EQ(first.seconds, 25);
  EXPECT_EQ(first.budget.tokens, 250);
  EXPECT_EQ(first.budget.cost_usd, 0) << "no limit stays none";
  entries[0].seconds = 40;  // with finalists, which are beyond its share; the rest of that is for the others
  entries[0].searched = 10;
  entries[0].tokens = 250;
  const CampaignShare second = share_of(limits, entries, entries[1], 3);
  EXPECT_DOUBLE_EQ(second.seconds, 30);
  EXPECT_EQ(second.budget.tokens, 250);
  EXPECT_DOUBLE_EQ(share_of(limits, entries, entries[0], 3).seconds, 70) << "its run's clock goes on";
  EXPECT_EQ(share_of(limits, entries, entries[0], 1).budget.tokens, 1000) << "what it used, and all that is left";
  entries[1].tokens = 800;
  entries[1].searched = 95;
  const CampaignShare nothing = share_of(limits, entries, CampaignEntry{}, 1);
  EXPECT_EQ(nothing.budget.tokens, 1) << "0 would be no limit";
  EXPECT_GT(nothing.seconds, 0);
  EXPECT_LT(nothing.seconds, 0.01);
}

TEST(Campaign, AnEntryIsWrittenInOneForm) {
  CampaignEntry entry;
  entry.task = "a";
  entry.folder = "runs/c/a-cpu";
  entry.stopped = "nothing left to try";
  auto json = nlohmann::json::parse(to_json(entry));
  EXPECT_EQ(json["run"], "runs/c/a-cpu");
  EXPECT_EQ(json["stopped"], "nothing left to try");
  EXPECT_TRUE(json["best"].is_null());
  entry.best = Speedup{"naive", 2, 1.5, 2.5};
  json = nlohmann::json::parse(to_json(entry));
  EXPECT_EQ(json["best"]["low"], 1.5);

  CampaignRequest request;
  request.tasks = {campaign_task("a", "exp(x)")};
  request.folder = std::filesystem::path(testing::TempDir()) / "kerf_campaign_form";
  NoView view;
  const std::atomic<bool> interrupted{true};
  const auto stopped = run_campaign(request, {}, view, interrupted);
  ASSERT_TRUE(stopped) << stopped.error().message;
  const auto file = nlohmann::json::parse(*read_file(request.folder / "campaign.json"))["tasks"][0];
  for (const auto& [key, value] : json.items()) EXPECT_TRUE(file.contains(key)) << key;
  EXPECT_EQ(file.size(), json.size());
  EXPECT_EQ(file["run"], "a-cpu") << "so that the folder can be moved";
  std::filesystem::remove_all(request.folder);
}

}  // namespace
}  // namespace kerf
