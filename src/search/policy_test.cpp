#include "search/policy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "search/duplicates.hpp"
#include "search/selection.hpp"

namespace kerf {
namespace {

Evaluation measured(double ratio) {
  Evaluation evaluation;
  Measurement measurement;
  measurement.speedup = {"naive", ratio, ratio * 0.99, ratio * 1.01};
  evaluation.outcome = measurement;
  return evaluation;
}

Archive archive_of(const std::vector<std::pair<double, Cell>>& members) {
  Archive archive;
  std::int64_t step = 0;
  const std::vector<std::int64_t> none;
  for (const auto& [ratio, cell] : members) {
    const Evaluation evaluation = measured(ratio);
    archive.insert({++step, none, evaluation, cell});
  }
  return archive;
}

const std::vector<Operation> kOperations{{"builtin", {"start"}},
                                         {"builtin", {"restart"}},
                                         {"builtin", {"parameter", true}},
                                         {"builtin", {"family", true}},
                                         {"builtin", {"crossover", true, true}}};

TEST(DrawSoftmax, FollowsTheWeights) {
  const std::vector<double> values{0, std::log(3.0)};
  int second = 0;
  for (int i = 0; i < 4000; ++i) {
    Rng rng = Rng(1).fork(std::to_string(i));
    second += draw_softmax(values, 1, rng) == 1 ? 1 : 0;
  }
  EXPECT_NEAR(second / 4000.0, 0.75, 0.03);
}

TEST(DrawParent, PrefersFastCellsButVisitsAll) {
  const Archive archive = archive_of({{1, {0, 0, 0}}, {4, {1, 0, 0}}, {4.2, {1, 1, 0}}});
  std::map<std::int64_t, int> drawn;
  for (int i = 0; i < 1000; ++i) {
    Rng rng = Rng(1).fork(std::to_string(i));
    ++drawn[draw_parent(archive, rng)->step];
  }
  EXPECT_GT(drawn[1], 5);
  EXPECT_GT(drawn[2], 200);
  EXPECT_GT(drawn[3], drawn[2]);
  Rng rng(1);
  EXPECT_EQ(draw_parent(Archive{}, rng), nullptr);
}

TEST(DrawPartners, ComeFromOtherCellsFirst) {
  const Archive archive = archive_of({{1, {0, 0, 0}}, {4, {1, 0, 0}}, {3, {1, 0, 0}}});
  for (int i = 0; i < 50; ++i) {
    Rng rng = Rng(1).fork(std::to_string(i));
    const auto partners = draw_partners(archive, *archive.find(2), 2, rng);
    EXPECT_EQ(partners, (std::vector<std::int64_t>{1, 3}));
  }
}

TEST(KerfPolicy, AModelThatRepeatsItselfIsAskedForSomethingElse) {
  const std::vector<Operation> operations{{"llm", {"start"}}, {"llm", {"draft"}}, {"llm", {"refine", true}}};
  const Archive archive = archive_of({{2, {0, 0, 0}}});
  const auto drafts = [&](bool repeated) {
    auto policy = make_policy("kerf").value();
    for (int i = 1; i <= 5; ++i) {
      Step step;
      step.number = i;
      step.proposer = "llm";
      step.operation = "draft";
      step.provenance.prompt = "draft-1";
      step.evaluation.outcome = Rejected{repeated ? Gate::duplicate : Gate::parse, ""};
      policy->observe({step, Decision{}, std::nullopt, 0.5, 1});
    }
    int count = 0;
    for (int i = 0; i < 400; ++i) {
      Rng rng = Rng(2).fork(std::to_string(i));
      count += policy->choose(archive, operations, rng)->operation == 1 ? 1 : 0;
    }
    return count;
  };
  EXPECT_GT(drafts(false), 80);
  EXPECT_LT(drafts(true), 30);
}

class EveryPolicy : public testing::TestWithParam<std::string> {};

TEST_P(EveryPolicy, AsksOnlyForWhatIsPossible) {
  auto policy = make_policy(GetParam()).value();
  Archive archive;
  Evaluation evaluation = measured(2);
  const std::vector<std::int64_t> none;
  for (int members = 0; members <= 3; ++members) {
    for (int i = 0; i < 100; ++i) {
      Rng rng = Rng(1).fork(std::to_string(i));
      const auto choice = policy->choose(archive, kOperations, rng);
      if (!choice) {
        EXPECT_EQ(GetParam(), "published") << "only it may find no partner";
        continue;
      }
      const OperationInfo& operation = kOperations[choice->operation].info;
      EXPECT_NE(operation.name, "start");
      EXPECT_EQ(choice->parent.has_value(), operation.needs_parent);
      if (choice->parent) {
        EXPECT_NE(archive.find(*choice->parent), nullptr);
      }
      if (operation.needs_partner) {
        EXPECT_FALSE(choice->inspirations.empty());
      }
      for (const auto other : choice->inspirations) EXPECT_NE(other, *choice->parent);
    }
    Step step;
    step.number = members + 1;
    step.stage = Stage::search;
    step.operation = "parameter";
    step.cell = {members, 0, 0};
    step.evaluation = evaluation;
    const Decision decision = archive.insert({step.number, none, step.evaluation, step.cell});
    policy->observe({step, decision, std::nullopt, std::nullopt, 1});
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicy, testing::ValuesIn(policy_names()),
                         [](const auto& policy) { return policy.param; });

TEST(SourceIdentity, SeesThroughCommentsAndLayoutButNotThroughLaunchesAndTunables) {
  const auto kernel = [](const std::string& header, const std::string& code) {
    return parse_candidate("k", "/* kerf\ntarget: opencl\n" + header + "*/\n" + code).value();
  };
  const std::string launch = "launch: k<<<n, 64>>>(x, y)\n";
  const Candidate plain = kernel(launch, "__kernel void k() { int a = 1; }\n");
  EXPECT_EQ(source_identity(plain, {}),
            source_identity(kernel(launch, "// why\n__kernel void  k() { /* x */ int a = 1; }\n\n"), {}));
  EXPECT_NE(source_identity(plain, {}), source_identity(kernel(launch, "__kernel void k() { int a = 2; }\n"), {}));
  EXPECT_NE(source_identity(plain, {}),
            source_identity(kernel("launch: k<<<n, 128>>>(x, y)\n", "__kernel void k() { int a = 1; }\n"), {}));
  const Candidate tuned = kernel("tune: B = {1, 2}\n" + launch, "__kernel void k() { int a = B; }\n");
  const Candidate wider = kernel("tune: B = {1, 2, 4}\n" + launch, "__kernel void k() { int a = B; }\n");
  EXPECT_EQ(source_identity(tuned, {{"B", 1}}), source_identity(wider, {{"B", 1}}));
  EXPECT_NE(source_identity(tuned, {{"B", 1}}), source_identity(tuned, {{"B", 2}}));
}

}  // namespace
}  // namespace kerf
