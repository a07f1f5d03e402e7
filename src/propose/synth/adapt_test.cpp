#include "propose/synth/adapt.hpp"

#include <gtest/gtest.h>

#include "codegen/dialects/dialects.hpp"
#include "ir/expression/expression.hpp"
#include "propose/synth/synthesiser.hpp"

namespace kerf::synth {
namespace {

std::unique_ptr<Synthesiser> rows_of(const std::string& expression, std::int64_t rows = 256, std::int64_t cols = 512) {
  Task task;
  task.name = "rows";
  task.inputs = {*ir::parse_tensor_type("x", "f32[rows, cols]"), *ir::parse_tensor_type("w", "f32[cols, cols]")};
  task.shapes = {{"default", {{"rows", rows}, {"cols", cols}}, 1, {}}};
  auto graph = ir::parse_expression("y = " + expression, task.inputs, {"y"}, {task.shapes[0].symbols});
  KERF_CHECK(graph.has_value(), graph ? "" : graph.error().message.c_str());
  task.outputs = {{"y", DType::f32, (*graph)[graph->outputs[0].node].shape}};
  task.graph = *std::move(graph);
  task.distributions.resize(2);
  auto made = Synthesiser::create(task, "cpu", codegen::dialects::cpp, DeviceFacts{});
  KERF_CHECK(made.has_value(), made ? "" : made.error().message.c_str());
  return *std::move(made);
}

TEST(Adapt, AGenomeOfTheSameGraphComesBackAsItWas) {
  const auto here = rows_of("softmax(x, axis=-1)"), larger = rows_of("softmax(x, axis=-1)", 4096, 2048);
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    const Genome genome = here->random(rng);
    const auto recipe = here->recipe(genome);
    ASSERT_TRUE(recipe);
    const auto again = here->adapted(*recipe);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, genome);
    const auto there = larger->adapted(*recipe);
    ASSERT_TRUE(there);
    EXPECT_EQ(larger->describe(*there), here->describe(genome));
    EXPECT_TRUE(larger->render(*there));
  }
}

TEST(Adapt, AFusedRecipeStaysFusedOnALargerTask) {
  const auto sum = rows_of("sum(x, axis=-1)"), softmax = rows_of("softmax(x, axis=-1)");
  for (const Genome& genome : sum->starts()) {
    if (genome.genes.size() != 1 || genome.genes[0].family != "row") continue;
    const auto adapted = softmax->adapted(*sum->recipe(genome));
    ASSERT_TRUE(adapted) << sum->describe(genome);
    EXPECT_EQ(adapted->genes.size(), 1u) << softmax->describe(*adapted) << " from " << sum->describe(genome);
  }
}

TEST(Adapt, AnotherReductionTakesFamilyVariantAndParameters) {
  const auto softmax = rows_of("softmax(x, axis=-1)"), norm = rows_of("x * rsqrt(mean(x*x, axis=-1, keepdims=true))");
  int kept = 0;
  for (Genome genome : softmax->starts()) {
    if (genome.genes.size() != 1) continue;
    Rng rng(1);
    for (int i = 0; i < 3; ++i) genome = softmax->change_parameter(genome, rng).value_or(genome);
    const auto adapted = norm->adapted(*softmax->recipe(genome));
    ASSERT_TRUE(adapted) << softmax->describe(genome);
    ASSERT_EQ(adapted->genes.size(), 1u);
    EXPECT_EQ(adapted->genes[0].family, genome.genes[0].family);
    EXPECT_TRUE(norm->render(*adapted));
    if (adapted->genes[0].variant != genome.genes[0].variant) continue;
    ++kept;
    EXPECT_EQ(adapted->genes[0].parameters, genome.genes[0].parameters);
  }
  EXPECT_GT(kept, 0);
}

TEST(Adapt, GroupsTakeTheGeneTheyAreMostLike) {
  const auto product = rows_of("matmul(x, w)"), both = rows_of("softmax(matmul(x, w), axis=-1)");
  const auto genome = product->starts().front();
  const auto adapted = both->adapted(*product->recipe(genome));
  ASSERT_TRUE(adapted);
  bool found = false;
  for (const Gene& gene : adapted->genes)
    found = found || (gene.family == genome.genes[0].family && gene.variant == genome.genes[0].variant);
  EXPECT_TRUE(found) << both->describe(*adapted);
}

TEST(Adapt, ValuesThatAreNotAllowedBecomeTheNearest) {
  const auto softmax = rows_of("softmax(x, axis=-1)");
  Genome genome = softmax->starts().front();
  auto recipe = softmax->recipe(genome);
  ASSERT_TRUE(recipe && !genome.genes[0].parameters.empty());
  for (auto& [name, value] : recipe->genes[0].parameters) value = 1'000'003;
  recipe->genome = "not a genome";
  const auto adapted = softmax->adapted(*recipe);
  ASSERT_TRUE(adapted);
  EXPECT_TRUE(softmax->render(*adapted));
}

TEST(Adapt, RecipesFromAnywhereDoNoHarm) {
  const auto softmax = rows_of("softmax(x, axis=-1)");
  auto recipe = *softmax->recipe(softmax->starts().front());
  for (const char* genome :
       {"", "[]", R"({"form": 99, "genes": []})", R"({"form": 0, "genes": []})",
        R"({"form": 0, "genes": [{"root": -5, "family": "row", "variant": "passes", "parameters": {}}]})",
        R"({"form": 0, "genes": [{"root": 0, "family": "row", "variant": "passes", "parameters": {}}]})",
        R"({"form": 0, "genes": [{"root": 99999, "family": "row", "variant": "passes", "parameters": {}}]})"}) {
    recipe.genome = genome;
    for (memory::RecipeGene& gene : recipe.genes) gene.family = "no such family";
    const auto adapted = softmax->adapted(recipe);
    EXPECT_TRUE(!adapted || softmax->render(*adapted).has_value());
  }
}

TEST(Advice, OrdersFirstGuesses) {
  const auto synthesiser = rows_of("softmax(x, axis=-1)");
  const auto starts = synthesiser->starts();
  ASSERT_GT(starts.size(), 2u);
  const Genome& favourite = starts.back();
  Advice advice;
  for (const Genome& start : starts)
    for (const Gene& gene : start.genes) advice[gene.family + "/" + gene.variant] = 0.2;
  for (const Gene& gene : favourite.genes) advice[gene.family + "/" + gene.variant] = 0.99;
  const auto proposer = make_builtin_proposer(rows_of("softmax(x, axis=-1)"), {}, advice);
  ProposalRequest request;
  request.operation = kStartOperation;
  const auto first = proposer->propose(request);
  ASSERT_TRUE(first && *first);
  const auto genome = genome_from_json((*first)->genome);
  ASSERT_TRUE(genome);
  double mean = 0;
  for (const Gene& gene : genome->genes) mean += advice[gene.family + "/" + gene.variant];
  EXPECT_GT(mean / static_cast<double>(genome->genes.size()), 0.5);
}

}  // namespace
}  // namespace kerf::synth
