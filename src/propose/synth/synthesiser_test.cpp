#include "propose/synth/synthesiser.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "ir/expression/expression.hpp"
#include "propose/synth/catalogue.hpp"
#include "propose/synth/family.hpp"

namespace kerf::synth {
namespace {

Task task_of(const std::string& expression, const std::vector<ir::TensorType>& inputs, const Bindings& symbols) {
  Task task;
  task.name = "test";
  task.inputs = inputs;
  task.shapes = {{"default", symbols, 1, {}}};
  auto graph = ir::parse_expression(expression, inputs, {"y"}, {symbols});
  KERF_CHECK(graph.has_value(), graph ? "" : graph.error().message.c_str());
  const ir::Node& node = (*graph)[graph->outputs[0].node];
  task.outputs = {{"y", node.dtype, node.shape}};
  task.graph = *std::move(graph);
  task.distributions.resize(inputs.size());
  return task;
}

ir::TensorType tensor(const std::string& name, const std::string& type) { return *ir::parse_tensor_type(name, type); }

std::unique_ptr<Synthesiser> softmax_of_product(const std::string& target = "cpu") {
  const Task task = task_of("y = softmax(matmul(a, b), axis=-1) * 2.0",
                            {tensor("a", "f32[m, k]"), tensor("b", "f32[k, n]")}, {{"m", 64}, {"n", 96}, {"k", 32}});
  auto made = Synthesiser::create(task, target, target == "cpu" ? codegen::dialects::cpp : codegen::dialects::opencl_c,
                                  DeviceFacts{});
  KERF_CHECK(made.has_value(), made ? "" : made.error().message.c_str());
  return *std::move(made);
}

TEST(Catalogue, EveryManifestIsReadable) {
  const auto variants = load_catalogue();
  ASSERT_TRUE(variants) << variants.error().message;
  std::set<std::string> families;
  for (const Variant& variant : *variants) families.insert(variant.family);
  for (const Family* family : all_families())
    EXPECT_TRUE(families.contains(std::string(family->name()))) << family->name();
  EXPECT_EQ(families.size(), all_families().size()) << "a folder under kernels/ that no family claims";
}

TEST(Catalogue, NamesTheNearestFile) {
  const auto missing = built_in_file("dialect/cuda.hpp");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("did you mean 'dialect/cuda.h'?"), std::string::npos);
}

TEST(Genome, SurvivesItsTextForm) {
  const Genome genome{1, {{3, "matmul", "packed", {{"TM", 8}, {"TV", 3}}}, {9, "direct", "loop", {}}}};
  const auto again = genome_from_json(to_json(genome));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, genome);
  EXPECT_FALSE(genome_from_json("{\"form\": 1}"));
  EXPECT_FALSE(genome_from_json("nonsense"));
}

TEST(Genome, TakesTunedValuesFromTheGeneWhoseKernelsItShares) {
  const Gene gene{3, "matmul", "packed", {{"TM", 8}}};
  Genome genome{0, {gene, gene, gene}};
  genome.genes[1].root = 5;
  genome.genes[2].root = 9;
  const auto tuned = genome_with(to_json(genome, {0, 0, 2}), {{"G0_TM", 4}, {"G2_TM", 6}});
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_EQ(tuned->genes[0].parameters.at("TM"), 4);
  EXPECT_EQ(tuned->genes[1].parameters.at("TM"), 4);
  EXPECT_EQ(tuned->genes[2].parameters.at("TM"), 6);
}

TEST(Synthesiser, WritesTheKernelsOfEqualGroupsOnce) {
  std::string expression = "h0 = matmul(x, a)\n";
  for (int i = 0; i < 3; ++i)
    expression += "h" + std::to_string(i + 1) + " = matmul(h" + std::to_string(i) + " / (1 + sum(h" +
                  std::to_string(i) + " * h" + std::to_string(i) + ", axis=-1, keepdims=true)), b)\n";
  const Task task =
      task_of(expression + "y = h3", {tensor("x", "f32[n, n]"), tensor("a", "f32[n, n]"), tensor("b", "f32[n, n]")},
              {{"n", 64}});
  const auto made = Synthesiser::create(task, "cpu", codegen::dialects::cpp, DeviceFacts{});
  ASSERT_TRUE(made) << made.error().message;
  const Genome genome = (*made)->starts().front();
  const auto candidate = (*made)->render(genome);
  ASSERT_TRUE(candidate) << candidate.error().message;
  std::set<std::string> groups;  // that have tunables of their own
  Bindings tuned;
  for (const Tunable& tunable : candidate->tunables) {
    groups.insert(tunable.name.substr(0, tunable.name.find('_')));
    tuned[tunable.name] = tunable.values.back();
  }
  EXPECT_LT(groups.size(), genome.genes.size()) << (*made)->describe(genome);
  const auto after = genome_with((*made)->text(genome), tuned);
  ASSERT_TRUE(after) << after.error().message;
  for (std::size_t g = 0; g < genome.genes.size(); ++g)
    EXPECT_NE(after->genes[g].parameters, genome.genes[g].parameters) << "gene " << g << " was tuned, too";
}

TEST(Synthesiser, StartsAreDistinctAndTheFusedOneComesFirst) {
  const auto synthesiser = softmax_of_product();
  const auto starts = synthesiser->starts();
  ASSERT_GT(starts.size(), 1u);
  for (std::size_t a = 0; a < starts.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(to_json(starts[a]), to_json(starts[b]));
  std::size_t most = 0;
  for (const Genome& genome : starts) most = std::max(most, genome.genes.size());
  EXPECT_LT(starts.front().genes.size(), most);
}

TEST(Synthesiser, HalvesAreRoundedInWholeVectorsFirst) {
  const Task task = task_of("y = relu(x) * 2.0", {tensor("x", "f16[n]")}, {{"n", 4096}});
  const auto made = Synthesiser::create(task, "cpu", codegen::dialects::cpp, DeviceFacts{});
  ASSERT_TRUE(made) << made.error().message;
  const auto starts = (*made)->starts();
  ASSERT_FALSE(starts.empty());
  ASSERT_EQ(starts.front().genes.size(), 1u);
  EXPECT_EQ(starts.front().genes.front().variant, "halves");
  const auto written = (*made)->render(starts.front());
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_NE(written->source.find("kerf_round_f16(to, block, count)"), std::string::npos) << written->source;
}

TEST(Synthesiser, WhatStaysTheSameAlongARunIsComputedOnce) {
  const Task task = task_of("y = x * sigmoid(s + b)[:, :, None, None]",
                            {tensor("x", "f32[n, c, 28, 28]"), tensor("s", "f32[n, c]"), tensor("b", "f32[c]")},
                            {{"n", 16}, {"c", 256}});
  const auto made = Synthesiser::create(task, "cpu", codegen::dialects::cpp, DeviceFacts{});
  ASSERT_TRUE(made) << made.error().message;
  for (const Genome& genome : (*made)->starts()) {
    if (genome.genes.size() != 1 || genome.genes.front().family != "pointwise") continue;
    const auto written = (*made)->render(genome);
    ASSERT_TRUE(written) << written.error().message;
    const std::string& source = written->source;
    EXPECT_NE(source.find("const float kerf_f0 = g0_fixed_0("), std::string::npos) << source;
    EXPECT_EQ(source.find("g0_raw("), std::string::npos) << "hooks that nothing calls are left out";
    return;
  }
  FAIL() << "no plan has one kernel";
}

TEST(Synthesiser, PositionsOfAPointwiseConvolutionAreReadInOrder) {
  const Task task = task_of("y = relu(conv2d(relu(x), w))",
                            {tensor("x", "f32[n, 192, 56, 56]"), tensor("w", "f32[32, 192, 1, 1]")}, {{"n", 4}});
  const auto made = Synthesiser::create(task, "cpu", codegen::dialects::cpp, DeviceFacts{});
  ASSERT_TRUE(made) << made.error().message;
  bool seen = false;
  for (const Genome& genome : (*made)->starts()) {
    if (genome.genes.size() != 1 || genome.genes.front().family != "matmul") continue;
    const auto written = (*made)->render(genome);
    ASSERT_TRUE(written) << written.error().message;
    const auto hook = written->source.find("KERF_FN float g0_load_b(");
    ASSERT_NE(hook, std::string::npos) << written->source;
    const std::string body = written->source.substr(hook, written->source.find("\n}", hook) - hook);
    EXPECT_EQ(body.find(" % "), std::string::npos) << body;
    EXPECT_EQ(body.find(" / "), std::string::npos) << body;
    seen = true;
  }
  EXPECT_TRUE(seen);
}

TEST(Synthesiser, WhatAConvolutionByChannelReadsIsFinishedOnce) {
  const auto first = [](const std::string& x) {
    const Task task = task_of("y = conv2d(" + x + ", w, padding=1, groups=192)",
                              {tensor("x", "f32[n, 192, 56, 56]"), tensor("w", "f32[192, 1, 3, 3]")}, {{"n", 4}});
    const auto made = Synthesiser::create(task, "cpu", codegen::dialects::cpp, DeviceFacts{});
    return made ? (*made)->describe((*made)->starts().front()) : made.error().message;
  };
  EXPECT_EQ(first("x"), "conv/lines");
  EXPECT_EQ(first("relu(x * 2.0 + 1.0)"), "conv/held");
}

TEST(Synthesiser, EveryOperatorGivesALegalDifferentGenome) {
  for (const std::string target : {"cpu", "opencl"}) {
    const auto synthesiser = softmax_of_product(target);
    Rng rng(3);
    Genome genome = synthesiser->starts().front();
    const Genome other = synthesiser->random(rng);
    std::map<std::string, int> made;
    for (int round = 0; round < 30; ++round) {
      const std::map<std::string, std::optional<Genome>> children{
          {"parameter", synthesiser->change_parameter(genome, rng)},
          {"family", synthesiser->change_family(genome, rng)},
          {"fusion", synthesiser->change_fusion(genome, rng)},
          {"crossover", synthesiser->cross(genome, other, rng)}};
      for (const auto& [operation, child] : children) {
        if (!child) continue;
        ++made[operation];
        EXPECT_NE(*child, genome) << operation;
        const auto candidate = synthesiser->render(*child);
        ASSERT_TRUE(candidate) << operation << ": " << candidate.error().message;
        EXPECT_NE(synthesiser->difference(genome, *child), "no change") << operation;
      }
      if (children.at("fusion")) genome = *children.at("fusion");
    }
    for (const char* operation : {"parameter", "family", "fusion"}) EXPECT_GT(made[operation], 0) << operation;
  }
}

TEST(Synthesiser, TheSameSeedDrawsTheSameGenomes) {
  const auto synthesiser = softmax_of_product();
  Rng first(11), second(11);
  for (int draw = 0; draw < 20; ++draw) EXPECT_EQ(synthesiser->random(first), synthesiser->random(second));
}

TEST(Synthesiser, RandomGenomesAreFusedUnfusedAndInBetween) {
  const auto synthesiser = softmax_of_product();
  std::size_t fewest = 99, most = 0;
  for (const Genome& start : synthesiser->starts()) {
    fewest = std::min(fewest, start.genes.size());
    most = std::max(most, start.genes.size());
  }
  Rng rng(1);
  std::set<std::size_t> sizes;
  std::set<std::string> variants, parameters;
  for (int draw = 0; draw < 100; ++draw) {
    const Genome genome = synthesiser->random(rng);
    sizes.insert(genome.genes.size());
    for (const Gene& gene : genome.genes) {
      variants.insert(gene.family + "/" + gene.variant);
      for (const auto& [name, value] : gene.parameters) parameters.insert(name + std::to_string(value));
    }
  }
  EXPECT_TRUE(sizes.contains(fewest));
  EXPECT_TRUE(sizes.contains(most)) << "the least fused program is not reached";
  EXPECT_GE(sizes.size(), 4u) << "partly fused programs are not reached";
  EXPECT_GT(variants.size(), 4u);
  EXPECT_GT(parameters.size(), 10u);
}

TEST(Synthesiser, ParametersBecomeDefaultsOfTunables) {
  const auto synthesiser = softmax_of_product();
  Rng rng(5);
  const Genome start = synthesiser->starts().front();
  const auto moved = synthesiser->change_parameter(start, rng);
  ASSERT_TRUE(moved);
  const auto candidate = synthesiser->render(*moved);
  ASSERT_TRUE(candidate);
  int seen = 0;
  for (std::size_t g = 0; g < moved->genes.size(); ++g)
    for (const auto& [name, value] : moved->genes[g].parameters)
      for (const Tunable& tunable : candidate->tunables)
        if (tunable.name == "G" + std::to_string(g) + "_" + name) {
          EXPECT_EQ(tunable.values.front(), value) << tunable.name;
          ++seen;
        }
  EXPECT_GT(seen, 0);
}

TEST(Synthesiser, ProcessorsGetTheirOwnKernelsFirstAndGpusNever) {
  const Task task = task_of("y = softmax(exp(x), axis=-1)", {tensor("x", "f32[m, n]")}, {{"m", 64}, {"n", 96}});
  for (const bool processor : {false, true}) {
    DeviceFacts facts;
    facts.runs_on_host = processor;
    const auto made = Synthesiser::create(task, "opencl", codegen::dialects::opencl_c, facts);
    ASSERT_TRUE(made) << made.error().message;
    const std::vector<Genome> starts = (*made)->starts();
    const auto candidate = (*made)->render(starts.front());
    ASSERT_TRUE(candidate) << candidate.error().message;
    EXPECT_EQ((*made)->describe(starts.front()), processor ? "row/item_rows" : "row/block");
    EXPECT_EQ(candidate->source.find("kerf_fast_exp(") != std::string::npos, processor);
    for (const Genome& genome : starts)
      if (!processor) {
        EXPECT_EQ((*made)->describe(genome).find("item_"), std::string::npos);
        EXPECT_EQ((*made)->describe(genome).find("pointwise/lines"), std::string::npos);
      }
  }
}

TEST(Synthesiser, NamesOfTheTaskMayLookLikeOurs) {
  const Task task = task_of(
      "y = exp(item) + g0_main + BLOCK * G0_CHUNK",
      {tensor("item", "f32[i]"), tensor("g0_main", "f32[i]"), tensor("BLOCK", "f32[i]"), tensor("G0_CHUNK", "f32[i]")},
      {{"i", 100}});
  const auto made = Synthesiser::create(task, "cpu", codegen::dialects::cpp, DeviceFacts{});
  ASSERT_TRUE(made) << made.error().message;
  const auto candidate = (*made)->render((*made)->starts().front());
  ASSERT_TRUE(candidate) << candidate.error().message;
  for (const Tunable& tunable : candidate->tunables) EXPECT_NE(tunable.name, "G0_CHUNK");
}

TEST(Synthesiser, TheFirstGuessUsesTheUnitThatShouldBeFastest) {
  const auto first = [](std::int64_t size, Precision precision, const std::map<std::string, double>& rates) {
    Task task = task_of("y = x @ w", {tensor("x", "f32[m, m]"), tensor("w", "f32[m, m]")}, {{"m", size}});
    task.precision = precision;
    const auto made = Synthesiser::create(task, "cuda", codegen::dialects::cuda_cpp, DeviceFacts{}, rates);
    return (*made)->describe((*made)->starts().front());
  };
  EXPECT_EQ(first(4096, Precision::f32, {}), "matmul/tensor_split_f16");
  EXPECT_EQ(first(4096, Precision::tf32, {}), "matmul/tensor_f16");
  EXPECT_EQ(first(128, Precision::f32, {}), "matmul/tiled") << "launches cost more than the faster unit saves";
  EXPECT_EQ(first(4096, Precision::f32, {{"fma_f32", 60e12}, {"tensor_f16", 100e12}}), "matmul/tiled");

  Task conv = task_of("y = conv2d(x, w)", {tensor("x", "f32[b, 64, 130, 130]"), tensor("w", "f32[128, 64, 3, 3]")},
                      {{"b", 64}});
  conv.precision = Precision::tf32;
  const auto made = Synthesiser::create(conv, "cuda", codegen::dialects::cuda_cpp, DeviceFacts{});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)->describe((*made)->starts().front()), "conv/tensor_f16");
  conv.precision = Precision::f32;
  const auto exact = Synthesiser::create(conv, "cuda", codegen::dialects::cuda_cpp, DeviceFacts{});
  ASSERT_TRUE(exact) << exact.error().message;
  EXPECT_EQ((*exact)->describe((*exact)->starts().front()), "conv/tensor_split_f16");
}

/// The first guess for a task of one timed shape and, when `small` has symbols, one that is only checked.
Gene first_gene(const std::string& expression, const std::vector<ir::TensorType>& inputs, const Bindings& symbols,
                const Bindings& small = {}, Precision precision = Precision::f32) {
  Task task = task_of(expression, inputs, symbols);
  if (!small.empty()) task.shapes.push_back({"small", small, 0, {}});
  task.precision = precision;
  const auto made = Synthesiser::create(task, "cuda", codegen::dialects::cuda_cpp, DeviceFacts{});
  KERF_CHECK(made.has_value(), made ? "" : made.error().message.c_str());
  return (*made)->starts().front().genes.front();
}

TEST(Synthesiser, ConvolutionsOfFewChannelsAreNotPaddedForMatrixUnits) {
  const auto variant = [](std::int64_t channels, std::int64_t filters, Precision precision) {
    return first_gene("y = conv2d(x, w)", {tensor("x", "f32[64, c, 130, 130]"), tensor("w", "f32[f, c, 3, 3]")},
                      {{"c", channels}, {"f", filters}}, {}, precision)
        .variant;
  };
  EXPECT_EQ(variant(3, 16, Precision::f32), "few_channels");
  EXPECT_EQ(variant(3, 64, Precision::tf32), "few_channels");
  EXPECT_EQ(variant(64, 64, Precision::f32), "tensor_split_f16");
  EXPECT_EQ(variant(64, 64, Precision::tf32), "tensor_f16");
}

TEST(Synthesiser, ShapesThatAreOnlyCheckedDoNotChooseTheFirstParameters) {
  const auto parameters = [](std::int64_t filters, const Bindings& small) {
    return first_gene("y = conv2d(x, w)", {tensor("x", "f32[n, 64, n, n]"), tensor("w", "f32[f, 64, 3, 3]")},
                      {{"n", 130}, {"f", filters}}, small, Precision::tf32)
        .parameters;
  };
  EXPECT_EQ(parameters(128, {}).at("BN"), 128);
  EXPECT_EQ(parameters(128, {{"n", 8}, {"f", 8}}).at("BN"), 128);
  EXPECT_EQ(parameters(64, {{"n", 8}, {"f", 8}}).at("BN"), 64) << "no more filters in a tile than there are";
  EXPECT_EQ(parameters(32, {{"n", 8}, {"f", 8}}).at("BN"), 32);
}

TEST(Synthesiser, ShortRowsShareAWarp) {
  const auto gene = [](std::int64_t columns) {
    return first_gene("y = softmax(x, axis=-1)", {tensor("x", "f32[100000, n]")}, {{"n", columns}});
  };
  EXPECT_EQ(gene(64).variant, "lanes");
  EXPECT_EQ(gene(64).parameters.at("LANES"), 8);
  EXPECT_EQ(gene(512).parameters.at("LANES"), 32);
  EXPECT_EQ(gene(4096).variant, "block");
}

TEST(Synthesiser, SplitRowsFillTheDeviceFromTheFirstGuessOn) {
  const Task task = task_of("y = x / sqrt(sum(x * x))", {tensor("x", "f32[112, 64, 512, 512]")}, {});
  DeviceFacts facts;
  facts.compute_units = 132;
  const auto made = Synthesiser::create(task, "cuda", codegen::dialects::cuda_cpp, facts);
  ASSERT_TRUE(made) << made.error().message;
  const Genome first = (*made)->starts().front();
  EXPECT_EQ((*made)->describe(first), "row/split_1");
  EXPECT_GE(first.genes.front().parameters.at("PARTS"), 4 * 132);
}

std::string first_plan(const std::string& expression, const std::vector<ir::TensorType>& inputs, bool finite = true,
                       Precision precision = Precision::f32) {
  Task task = task_of(expression, inputs, {});
  task.special_values = !finite;
  task.precision = precision;
  DeviceFacts facts;
  facts.compute_units = 132;
  const auto made = Synthesiser::create(task, "cuda", codegen::dialects::cuda_cpp, facts);
  KERF_CHECK(made.has_value(), made ? "" : made.error().message.c_str());
  const Genome first = (*made)->starts().front();
  std::vector<std::string> parts;
  for (const GroupFacts& group : (*made)->facts(first)) parts.push_back(group.family);
  return join(parts, " + ");
}

TEST(FirstPlan, ANormIsNotTornApartByWhatComesAfterIt) {
  EXPECT_EQ(first_plan("y = max_pool2d(max_pool2d(softmax(x, axis=1), 2), 2)", {tensor("x", "f32[64, 32, 128, 128]")}),
            "column + pool");
}

TEST(FirstPlan, APointwiseConvolutionIsAMatrixProduct) {
  EXPECT_EQ(
      first_plan("y = relu(conv2d(x, w))", {tensor("x", "f32[16, 64, 256, 256]"), tensor("w", "f32[128, 64, 1, 1]")},
                 true, Precision::tf32),
      "matmul");
}

TEST(FirstPlan, AProductWithAVectorIsReadOnce) {
  EXPECT_EQ(first_plan("y = matmul(A, v)", {tensor("A", "f32[256, 131072]"), tensor("v", "f32[131072, 1]")}), "row");
}

TEST(FirstPlan, LongSumsAreSharedByTheWholeDevice) {
  EXPECT_EQ(first_plan("y = matmul(A, B)", {tensor("A", "f32[256, 131072]"), tensor("B", "f32[131072, 256]")}),
            "matmul + column");
}

TEST(FirstPlan, FactsSayWhatAGroupMoves) {
  const Task task = task_of("y = softmax(x, axis=-1)", {tensor("x", "f32[8, 1000000]")}, {});
  const auto made = Synthesiser::create(task, "cuda", codegen::dialects::cuda_cpp, DeviceFacts{});
  ASSERT_TRUE(made) << made.error().message;
  const auto facts = (*made)->facts((*made)->starts().front());
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts[0].bytes_read, 32e6);
  EXPECT_EQ(facts[0].bytes_written, 32e6);
  EXPECT_EQ(facts[0].moves, 2) << facts[0].variant << ": maximum and sum in one pass, then the quotients";
  EXPECT_GT(facts[0].expected_us, 1);
}

TEST(Synthesiser, KernelsTakeOnlyWhatTheyUse) {
  const Task task = task_of("y = (x - mean(x, axis=-1, keepdims=true)) * w",
                            {tensor("x", "f32[m, n]"), tensor("w", "f32[n]")}, {{"m", 2}, {"n", 100000}});
  const auto made = Synthesiser::create(task, "cuda", codegen::dialects::cuda_cpp, DeviceFacts{});
  ASSERT_TRUE(made) << made.error().message;
  const auto starts = (*made)->starts();
  const auto split = std::find_if(starts.begin(), starts.end(),
                                  [&](const Genome& genome) { return (*made)->describe(genome) == "row/split_1"; });
  ASSERT_NE(split, starts.end());
  const auto candidate = (*made)->render(*split);
  ASSERT_TRUE(candidate) << candidate.error().message;
  const auto& launches = candidate->plan.launches;
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].args, (std::vector<std::string>{"x", "g0_partial_0"}));
  EXPECT_EQ(launches[1].args, (std::vector<std::string>{"x", "w", "y", "g0_partial_0"}));
  EXPECT_EQ(candidate->source.find("g0_where_0"), std::string::npos) << "scratch that no kernel uses";
}

TEST(Synthesiser, RenamesBuffersOnlyWhereTheirNameIsTaken) {
  const Task task = task_of("y = (x - mean(x, axis=-1, keepdims=true)) * lane",
                            {tensor("x", "f32[m, n]"), tensor("lane", "f32[n]")}, {{"m", 64}, {"n", 96}});
  const auto made = Synthesiser::create(task, "cuda", codegen::dialects::cuda_cpp, DeviceFacts{});
  ASSERT_TRUE(made) << made.error().message;
  const auto candidate = (*made)->render((*made)->starts().front());
  ASSERT_TRUE(candidate) << candidate.error().message;
  EXPECT_NE(candidate->source.find("* KERF_RESTRICT lane_in"), std::string::npos);
  EXPECT_NE(candidate->source.find("* KERF_RESTRICT x,"), std::string::npos);
  EXPECT_EQ(candidate->source.find("kerf_buffer_"), std::string::npos);
}

TEST(Synthesiser, SaysThatCppReferencesHaveNoGraph) {
  Task task;
  task.name = "opaque";
  const auto made = Synthesiser::create(task, "cpu", codegen::dialects::cpp, DeviceFacts{});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("tensor expressions"), std::string::npos);
}

TEST(BuiltinProposer, GivesItsStartsInOrderAndThenNone) {
  auto synthesiser = softmax_of_product();
  const std::size_t count = synthesiser->starts().size();
  const auto proposer = make_builtin_proposer(std::move(synthesiser));
  ProposalRequest request;
  request.operation = "start";
  std::set<std::string> sources;
  for (request.start_number = 0; request.start_number < count; ++request.start_number) {
    const auto proposal = proposer->propose(request);
    ASSERT_TRUE(proposal && proposal->has_value());
    EXPECT_TRUE(sources.insert((*proposal)->source).second);
  }
  const auto after = proposer->propose(request);
  ASSERT_TRUE(after);
  EXPECT_FALSE(after->has_value());
}

TEST(BuiltinProposer, LeavesOutStartsThatShouldTakeManyTimesAsLongAsTheBest) {
  const Task task = task_of("y = x @ w", {tensor("x", "f32[m, m]"), tensor("w", "f32[m, m]")}, {{"m", 4096}});
  auto made = Synthesiser::create(task, "cuda", codegen::dialects::cuda_cpp, DeviceFacts{});
  ASSERT_TRUE(made) << made.error().message;
  const std::shared_ptr<Synthesiser> synthesiser = *std::move(made);
  const auto starts = synthesiser->starts();
  EXPECT_TRUE(std::ranges::any_of(starts, [&](const Genome& g) { return synthesiser->describe(g) == "direct/items"; }));
  const auto proposer = make_builtin_proposer(synthesiser);
  ProposalRequest request;
  request.operation = "start";
  for (;; ++request.start_number) {
    const auto proposal = proposer->propose(request);
    ASSERT_TRUE(proposal) << proposal.error().message;
    if (!*proposal) break;
    EXPECT_NE((*proposal)->name, "direct/items");
  }
  EXPECT_GE(request.start_number, 2u);
}

TEST(BuiltinProposer, GivesTheSameAnswerToTheSameRequest) {
  const auto one = make_builtin_proposer(softmax_of_product()), other = make_builtin_proposer(softmax_of_product());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ProposalRequest request;
    request.operation = "restart";
    request.seed = seed;
    EXPECT_EQ(one->propose(request).value()->source, other->propose(request).value()->source);
  }
}

TEST(BuiltinProposer, HasNothingToSayWithoutAParent) {
  const auto proposer = make_builtin_proposer(softmax_of_product());
  for (const char* operation : {"parameter", "family", "fusion", "crossover"}) {
    ProposalRequest request;
    request.operation = operation;
    const auto proposal = proposer->propose(request);
    ASSERT_TRUE(proposal);
    EXPECT_FALSE(proposal->has_value()) << operation;
  }
}

TEST(BuiltinProposer, GoesWhereItIsAskedToWhenTheSourceShowsTheWay) {
  auto synthesiser = softmax_of_product();
  const Genome start = synthesiser->starts().front();
  const Candidate parent = *synthesiser->render(start);
  const auto length = [](const std::string& source) {  // stands for a dimension that a source shows
    return std::vector<int>{static_cast<int>(source.size())};
  };
  const auto proposer = make_builtin_proposer(std::move(synthesiser), length);
  const auto changes = [&](int step) {
    int longer = 0, shorter = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      ProposalRequest request;
      request.seed = seed;
      request.operation = "fusion";
      request.parent = KernelRecord{1, parent.name, parent.source, to_json(start), {}, {}, {0}};
      request.direction = Direction{0, step};
      const auto proposal = proposer->propose(request);
      if (!proposal || !*proposal) continue;
      const int moved = length((*proposal)->source)[0] - length(parent.source)[0];
      longer += moved > 0;
      shorter += moved < 0;
    }
    return std::pair{longer, shorter};
  };
  const auto up = changes(1), down = changes(-1);
  EXPECT_GT(up.first, down.first);
  EXPECT_GT(down.second, up.second);
}

}  // namespace
}  // namespace kerf::synth
