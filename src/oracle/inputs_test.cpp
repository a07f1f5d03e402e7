#include "oracle/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "base/rng.hpp"

namespace kerf::oracle {
namespace {

ir::HostTensor tensor(Pattern pattern, std::int64_t n, std::uint64_t seed = 1, DType dtype = DType::f32) {
  const ir::TensorType type{"x", dtype, {Dim::symbol("n")}};
  auto drawn = draw(type, {{"n", n}}, {pattern, seed}, std::nullopt);
  EXPECT_TRUE(drawn) << drawn.error().message;
  return *drawn;
}

TEST(Draw, TheSameSeedGivesTheSameBytesAndAnotherSeedOthers) {
  EXPECT_EQ(tensor(Pattern::normal, 1000, 1).bytes, tensor(Pattern::normal, 1000, 1).bytes);
  EXPECT_NE(tensor(Pattern::normal, 1000, 1).bytes, tensor(Pattern::normal, 1000, 2).bytes);
}

TEST(Draw, NormalHasMixedSignAndUnitDeviation) {
  const ir::HostTensor x = tensor(Pattern::normal, 100000);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    sum += x.as<float>()[i];
    squares += static_cast<double>(x.as<float>()[i]) * x.as<float>()[i];
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}

TEST(Draw, NormalHasTailsAndFullMantissas) {
  const ir::HostTensor x = tensor(Pattern::normal, 1000000);
  std::set<float> different;
  float largest = 0;
  std::uint32_t bits = 0;
  for (int i = 0; i < 1000000; ++i) {
    const float v = x.as<float>()[i];
    different.insert(v);
    largest = std::max(largest, std::fabs(v));
    bits |= std::bit_cast<std::uint32_t>(v);
  }
  EXPECT_GT(different.size(), 950000U);
  EXPECT_GT(largest, 4.5F) << "what is right between -3.5 and 3.5 only is not right";
  EXPECT_EQ(bits & 0x7fffffU, 0x7fffffU);
}

Task two_inputs() {
  Task task;
  task.inputs = {{"a", DType::f32, {Dim(64), Dim(48)}}, {"b", DType::f32, {Dim(48), Dim(40)}}};
  return task;
}

TEST(Draw, ScaledInputsHaveAnotherFactorAndOffsetInEveryDraw) {
  double least = 1e30, most = 0;
  int shifted = 0;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    const auto inputs = draw_inputs(two_inputs(), {}, {Pattern::scaled, seed});
    ASSERT_TRUE(inputs) << inputs.error().message;
    double sum = 0, squares = 0;
    const ir::HostTensor& x = inputs->front();
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      sum += x.as<float>()[i];
      squares += static_cast<double>(x.as<float>()[i]) * x.as<float>()[i];
    }
    const double mean = sum / static_cast<double>(x.elements());
    const double deviation = std::sqrt(squares / static_cast<double>(x.elements()) - mean * mean);
    least = std::min(least, deviation);
    most = std::max(most, deviation);
    shifted += std::fabs(mean) > deviation / 2 ? 1 : 0;
  }
  EXPECT_LT(least, 1e-6);
  EXPECT_GT(most, 1e6);
  EXPECT_GT(shifted, 16);
  EXPECT_LT(shifted, 48);
}

/// What can be told from the values of a row.
std::set<std::string> kinds_of(const float* row, std::int64_t length) {
  const auto all = [&](auto&& holds) { return std::all_of(row, row + length, holds); };
  std::set<std::string> kinds;
  const bool same = all([&](float v) { return v == row[0]; });
  if (same) kinds.insert(row[0] == 0 ? "zero" : "constant");
  if (same) return kinds;
  if (all([](float v) { return std::fabs(v) < 1e-3F; })) kinds.insert("tiny");
  if (all([](float v) { return v < -1e4F; }))
    kinds.insert("below -1e4");
  else if (all([](float v) { return v < -8; }))
    kinds.insert("below -8");
  if (all([](float v) { return v > 100; })) kinds.insert("above 100");
  if (std::any_of(row, row + length, [](float v) { return v > 1e3F; }) &&
      std::any_of(row, row + length, [](float v) { return v < -1e3F; }))
    kinds.insert("huge");
  return kinds;
}
const std::set<std::string> kEveryKind{"zero", "constant", "tiny", "huge", "below -1e4", "below -8", "above 100"};

TEST(Draw, ElevenRowsAreOfEveryKindWhateverTheSeed) {
  Task task;
  task.inputs = {{"x", DType::f32, {Dim(11), Dim(64)}}};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto inputs = draw_inputs(task, {}, {Pattern::rows, seed});
    ASSERT_TRUE(inputs) << inputs.error().message;
    std::set<std::string> kinds;
    for (int r = 0; r < 11; ++r) kinds.merge(kinds_of(inputs->front().as<float>() + r * 64, 64));
    EXPECT_EQ(kinds, kEveryKind) << "seed " << seed;
  }
}

TEST(Draw, ConstantRowsHaveWholeMantissasWhereNothingIsAddedUp) {
  const auto coarse = [](ir::ReduceOp op) {
    Task task;
    task.inputs = {{"x", DType::f32, {Dim(22), Dim(64)}}};
    ir::Graph graph;
    graph.nodes.push_back({ir::InputAttr{"x"}, DType::f32, task.inputs[0].shape, {}, {}});
    graph.nodes.push_back({ir::ReduceAttr{op, {1}, false}, DType::f32, {Dim(22)}, {0}, {}});
    task.graph = std::move(graph);
    int few = 0, all = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto inputs = draw_inputs(task, {}, {Pattern::rows, seed});
      for (int r = 0; r < 22; ++r) {
        const float* row = inputs->front().as<float>() + r * 64;
        if (row[0] == 0 || !std::all_of(row, row + 64, [&](float v) { return v == row[0]; })) continue;
        all += 1;
        few += (std::bit_cast<std::uint32_t>(row[0]) & 0xffffU) == 0 ? 1 : 0;
      }
    }
    EXPECT_EQ(all, 20);
    return few;
  };
  EXPECT_EQ(coarse(ir::ReduceOp::sum), 20);
  EXPECT_EQ(coarse(ir::ReduceOp::max), 0);
}

TEST(Draw, WithFewRowsEveryKindHasItsTurn) {
  for (const std::int64_t rows : {1, 3, 5, 11, 22}) {
    Task task;
    task.inputs = {{"x", DType::f32, {Dim(rows), Dim(64)}}};
    const auto draws = draws_for_all_kinds(task, {}, Pattern::rows);
    ASSERT_TRUE(draws);
    EXPECT_EQ(*draws, 11) << "each kind stands first once";
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      std::set<std::string> kinds, first;
      for (int n = 0; n < *draws; ++n) {
        const auto turn = static_cast<std::int64_t>(seed * 7) + n;
        const auto inputs = draw_inputs(task, {}, {Pattern::rows, mix64(seed) + mix64(n), kWidestOctaves, turn});
        ASSERT_TRUE(inputs) << inputs.error().message;
        for (int r = 0; r < rows; ++r) kinds.merge(kinds_of(inputs->front().as<float>() + r * 64, 64));
        first.merge(kinds_of(inputs->front().as<float>(), 64));
      }
      EXPECT_EQ(kinds, kEveryKind) << rows << " rows, seed " << seed;
      EXPECT_EQ(first, kEveryKind) << rows << " rows, seed " << seed;
    }
  }
}

TEST(Draw, ScaledInputsAreOfEveryKindInTurn) {
  const auto draws = draws_for_all_kinds(two_inputs(), {}, Pattern::scaled);
  ASSERT_TRUE(draws);
  std::set<std::string> kinds[2];
  for (int turn = 0; turn < *draws; ++turn) {
    const auto inputs = draw_inputs(two_inputs(), {}, {Pattern::scaled, mix64(turn), kWidestOctaves, turn + 100});
    ASSERT_TRUE(inputs) << inputs.error().message;
    for (std::size_t n = 0; n < 2; ++n) kinds[n].merge(kinds_of((*inputs)[n].as<float>(), (*inputs)[n].elements()));
  }
  EXPECT_EQ(kinds[0], kEveryKind);
  EXPECT_EQ(kinds[1], kEveryKind);
}

TEST(Draw, NarrowDrawsStayNarrow) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const Pattern pattern : {Pattern::rows, Pattern::scaled}) {
      const auto inputs = draw_inputs(two_inputs(), {}, {pattern, seed, 1});
      ASSERT_TRUE(inputs) << inputs.error().message;
      const ir::HostTensor& x = inputs->front();
      for (std::int64_t i = 0; i < x.elements(); ++i) ASSERT_LT(std::fabs(x.as<float>()[i]), 88) << "exp overflows";
    }
}

TEST(Draw, MaskedRowsAreOfEveryKindAndEveryInputHasItsTurn) {
  const auto draws = draws_for_all_kinds(two_inputs(), {}, Pattern::masked);
  ASSERT_TRUE(draws);
  EXPECT_EQ(*draws, 8);  // two inputs, four masks
  std::set<std::pair<int, float>> masks;
  for (int turn = 0; turn < *draws; ++turn) {
    const auto inputs = draw_inputs(two_inputs(), {}, {Pattern::masked, 77, kWidestOctaves, turn});
    ASSERT_TRUE(inputs) << inputs.error().message;
    for (int n = 0; n < 2; ++n) {
      const ir::HostTensor& x = (*inputs)[static_cast<std::size_t>(n)];
      std::set<std::string> kinds;
      for (std::int64_t r = 0; r < x.shape[0]; ++r) {
        const float* row = x.as<float>() + r * x.shape[1];
        const auto hidden = std::count_if(row, row + x.shape[1], [](float v) { return v < -1e8F; });
        if (hidden > 0) masks.insert({n, *std::min_element(row, row + x.shape[1])});
        if (hidden == 0) kinds.insert("none");
        if (hidden == x.shape[1]) kinds.insert("all");
        if (hidden == x.shape[1] - 1) kinds.insert("all but one");
        if (hidden > 0 && row[0] < -1e8F && row[x.shape[1] - 1] > -1e8F) kinds.insert("begin");
        if (hidden > 0 && row[0] > -1e8F && row[x.shape[1] - 1] < -1e8F) kinds.insert("end");
      }
      EXPECT_TRUE(kinds.size() == 1 || kinds.size() >= 4) << "input " << n << ", turn " << turn;
    }
  }
  EXPECT_EQ(masks.size(), 8U);
}

TEST(Draw, OneInputIsMaskedAndEveryRowKeepsSomethingUnlessRowsAreHidden) {
  std::set<float> masks;
  std::set<int> which;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    const auto inputs = draw_inputs(two_inputs(), {}, {Pattern::masked, seed});
    ASSERT_TRUE(inputs) << inputs.error().message;
    for (int n = 0; n < 2; ++n) {
      const ir::HostTensor& x = (*inputs)[static_cast<std::size_t>(n)];
      for (std::int64_t i = 0; i < x.elements(); ++i)
        if (x.as<float>()[i] < -1e8F) {
          masks.insert(x.as<float>()[i]);
          which.insert(n);
        }
      for (std::int64_t r = 0; r < x.shape[0]; ++r) {
        const float* row = x.as<float>() + r * x.shape[1];
        const bool hidden = std::all_of(row, row + x.shape[1], [](float v) { return v == -0x1p30F; });
        EXPECT_TRUE(hidden || std::any_of(row, row + x.shape[1], [](float v) { return v > -1e8F; }));
      }
    }
  }
  EXPECT_EQ(masks, (std::set<float>{-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::max(),
                                    -0x1p30F, -1e9F}));
  EXPECT_EQ(which, (std::set<int>{0, 1}));
}

TEST(Draw, TiesAreFourNumbers) {
  const ir::HostTensor x = tensor(Pattern::ties, 1000);
  EXPECT_EQ(std::set<float>(x.as<float>(), x.as<float>() + 1000).size(), 4U);
}

TEST(Draw, SpecialsAlwaysHoldANonFiniteElementAndMostlyOrdinaryOnes) {
  for (const std::int64_t n : {1, 7, 1000, 100000}) {
    const ir::HostTensor x = tensor(Pattern::specials, n);
    std::int64_t bad = 0;
    for (std::int64_t i = 0; i < n; ++i) bad += std::isfinite(x.as<float>()[i]) ? 0 : 1;
    EXPECT_GE(bad, 1) << n;
    EXPECT_LE(bad, 2 + n / 5000) << n;
  }
}

TEST(Draw, NanAndBothInfinitiesHaveTheirTurnInSmallTensors) {
  Task task;
  task.inputs = {{"x", DType::f32, {Dim(2), Dim(64)}}};
  const auto draws = draws_for_all_kinds(task, {}, Pattern::specials);
  ASSERT_TRUE(draws);
  EXPECT_EQ(*draws, 5);
  std::set<std::string> kinds;
  for (int turn = 0; turn < *draws; ++turn) {
    const auto inputs = draw_inputs(task, {}, {Pattern::specials, mix64(turn), kWidestOctaves, 41 + turn});
    ASSERT_TRUE(inputs) << inputs.error().message;
    std::string together;
    for (int i = 0; i < 128; ++i) {
      const float v = inputs->front().as<float>()[i];
      if (!std::isfinite(v)) together += std::isnan(v) ? "nan" : v > 0 ? "+inf" : "-inf";
    }
    kinds.insert(together);
  }
  EXPECT_TRUE(kinds.contains("nan") && kinds.contains("+inf") && kinds.contains("-inf"));
  EXPECT_EQ(kinds.size(), 5U) << "and two with another behind it";
}

Task with_node(ir::Attr attr) {
  Task task = two_inputs();
  ir::Graph graph;
  for (const auto& input : task.inputs)
    graph.nodes.push_back({ir::InputAttr{input.name}, input.dtype, input.shape, {}, {}});
  graph.nodes.push_back({std::move(attr), DType::f32, task.inputs[0].shape, {0, 1}, {}});
  task.graph = std::move(graph);
  return task;
}

TEST(Draw, SpecialsOfProductsLeaveOutWhatLibrariesDifferIn) {
  const auto drawn = [](const ir::Attr& attr, bool (*wanted)(float)) {
    std::vector<std::int64_t> counts(2, 0);
    for (std::uint64_t seed = 0; seed < 32; ++seed) {
      const auto inputs = *draw_inputs(with_node(attr), {}, {Pattern::specials, seed});
      for (std::size_t i = 0; i < 2; ++i)
        counts[i] += std::count_if(inputs[i].as<float>(), inputs[i].as<float>() + inputs[i].elements(), wanted);
    }
    return counts;
  };
  const auto infinite = [](float v) { return std::isinf(v); };
  const auto not_finite = [](float v) { return !std::isfinite(v); };
  for (const auto count : drawn(ir::MapAttr{ir::MapOp::add}, infinite)) EXPECT_GT(count, 0);
  for (const auto count : drawn(ir::ContractAttr{}, infinite)) EXPECT_EQ(count, 0);
  for (const auto count : drawn(ir::ContractAttr{}, not_finite)) EXPECT_GT(count, 0);
  EXPECT_GT(drawn(ir::ConvAttr{}, not_finite)[0], 0);
  EXPECT_EQ(drawn(ir::ConvAttr{}, not_finite)[1], 0);
}

TEST(Draw, TheLowestNumberMasksOnlyWhatIsNotMultiplied) {
  const auto lowest = [](ir::MapOp op) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 32; ++seed) {
      const auto draws = input_draws(with_node(ir::MapAttr{op}), {}, {Pattern::masked, seed});
      for (const InputDraw& input : draws.value()) found += input.pattern == Pattern::masked && input.b < -1e30 ? 1 : 0;
    }
    return found;
  };
  EXPECT_GT(lowest(ir::MapOp::add), 0);
  EXPECT_GT(lowest(ir::MapOp::maximum), 0);
  EXPECT_EQ(lowest(ir::MapOp::mul), 0);
}

TEST(Draw, SpecialValuesAreInOneInputAtATime) {
  const auto draws = draws_for_all_kinds(two_inputs(), {}, Pattern::specials);
  ASSERT_TRUE(draws);
  EXPECT_EQ(*draws, 10) << "five kinds in each of two small inputs";
  std::set<std::pair<int, std::string>> kinds;
  for (int turn = 0; turn < *draws; ++turn) {
    const auto inputs = draw_inputs(two_inputs(), {}, {Pattern::specials, mix64(turn), kWidestOctaves, 41 + turn});
    ASSERT_TRUE(inputs) << inputs.error().message;
    std::set<int> which;
    for (int n = 0; n < 2; ++n) {
      const ir::HostTensor& x = (*inputs)[static_cast<std::size_t>(n)];
      for (std::int64_t i = 0; i < x.elements(); ++i) {
        const float v = x.as<float>()[i];
        if (std::isfinite(v)) continue;
        which.insert(n);
        kinds.insert({n, std::isnan(v) ? "nan" : v > 0 ? "+inf" : "-inf"});
      }
    }
    EXPECT_EQ(which.size(), 1U);
  }
  EXPECT_EQ(kinds.size(), 6U);
}

TEST(Draw, IntegersAreExactSmallAndOfBothSigns) {
  const ir::HostTensor x = tensor(Pattern::integers, 1000);
  bool negative = false, positive = false;
  for (int i = 0; i < 1000; ++i) {
    const float v = x.as<float>()[i];
    ASSERT_EQ(v, std::round(v));
    ASSERT_LE(std::fabs(v), 4);
    negative |= v < 0;
    positive |= v > 0;
  }
  EXPECT_TRUE(negative && positive);
}

TEST(Draw, LogUniformSpansManyBinades) {
  const ir::HostTensor x = tensor(Pattern::log_uniform, 10000);
  float low = 1e9F, high = 0;
  for (int i = 0; i < 10000; ++i) {
    low = std::min(low, std::fabs(x.as<float>()[i]));
    high = std::max(high, std::fabs(x.as<float>()[i]));
  }
  EXPECT_LT(low, 0x1.0p-9F);
  EXPECT_GT(high, 0x1.0p9F);
}

TEST(Draw, ATasksDistributionIsObeyed) {
  InputDistribution classes;
  classes.kind = InputDistribution::Kind::integers;
  classes.a = 0;
  classes.b_is_dim = true;
  classes.b_dim = Dim::symbol("n") - Dim(1);
  const ir::TensorType type{"t", DType::i64, {Dim(2000)}};
  const auto drawn = draw(type, {{"n", 7}}, {Pattern::specials, 3}, classes);
  ASSERT_TRUE(drawn) << drawn.error().message;
  std::int64_t low = 99, high = -1;
  for (int i = 0; i < 2000; ++i) {
    low = std::min(low, drawn->as<std::int64_t>()[i]);
    high = std::max(high, drawn->as<std::int64_t>()[i]);
  }
  EXPECT_EQ(low, 0);
  EXPECT_EQ(high, 6);
}

}  // namespace
}  // namespace kerf::oracle
