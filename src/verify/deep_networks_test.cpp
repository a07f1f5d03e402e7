// Deep networks, whose worst-case bounds say nothing: honest single precision passes, everything else does not.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "codegen/compiled_cpp.hpp"
#include "ir/interpret/interpreter.hpp"
#include "oracle/compare.hpp"
#include "oracle/honest.hpp"
#include "oracle/reference.hpp"
#include "task/task.hpp"
#include "verify/admission.hpp"

namespace kerf {
namespace {

using Outputs = std::vector<ir::HostTensor>;

/// A network of `layers` layers as a task; one of them may be left out.
struct Network {
  std::string name, inputs, weight, first, last;
  int layers = 0;
  std::string layer;  ///< from h to h; {w} is the layer's weight

  std::string text(int left_out = -1) const {
    std::string declared = inputs, body = first;
    for (int i = 0; i < layers; ++i) {
      const std::string w = "w" + std::to_string(i);
      declared += w + " = \"" + weight + "\"\n";
      std::string step = layer;
      for (std::size_t at = 0; (at = step.find("{w}")) != std::string::npos;) step.replace(at, 3, w);
      if (i != left_out) body += step;
    }
    std::string drawn;
    for (int i = 0; i < layers; ++i) drawn += "w" + std::to_string(i) + " = \"normal(0, 0.2)\"\n";
    return "name = \"" + name + "\"\nspecial_values = false\n[inputs]\n" + declared + "[distributions]\n" + drawn +
           "[shapes]\nonly = { n = 4, weight = 1 }\n[reference]\nexpr = '''\n" + body + last +
           "'''\noutputs = [\"y\"]\n";
  }
  Task task(int left_out = -1) const {
    auto parsed = parse_task(text(left_out), ".", name + ".toml");
    EXPECT_TRUE(parsed) << parsed.error().message;
    return *std::move(parsed);
  }
};

const std::vector<Network>& networks() {
  static const std::vector<Network> all{
      {"mlp", "x = \"f32[8 * n, 32]\"\n", "f32[32, 32]", "h = x\n", "y = h\n", 12,
       "h = relu(batch_norm(h @ {w}, training=true))\n"},
      {"resnet", "x = \"f32[n, 8, 6, 6]\"\n", "f32[8, 8, 3, 3]", "h = x\n", "y = mean(h, axis=[2, 3])\n", 12,
       "h = relu(h + batch_norm(conv2d(h, {w}, padding=1), training=true))\n"},
      {"vit", "x = \"f32[n, 9, 24]\"\n", "f32[5, 24, 24]", "h = x\n", "y = h[:, 0, :]\n", 6,
       "t = layer_norm(h)\n"
       "h = h + attention(t @ {w}[0], t @ {w}[1], t @ {w}[2]) @ {w}[3]\n"
       "h = h + gelu(layer_norm(h) @ {w}[4])\n"},
  };
  return all;
}

class DeepNetworks : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    auto made = oracle::make_graph_reference(task_);
    ASSERT_TRUE(made) << made.error().message;
    reference_ = *std::move(made);
    auto drawn = oracle::make_data(task_, *reference_, task_.shapes[0], {oracle::Pattern::normal, 5});
    ASSERT_TRUE(drawn) << drawn.error().message;
    data_ = *std::move(drawn);
    static std::map<std::size_t, Outputs> plain_outputs;  // compiled once a network
    if (!plain_outputs.contains(GetParam())) {
      codegen::NaiveOptions plain;
      plain.running_sums = true;
      plain_outputs[GetParam()] = computed(plain);
    }
    const oracle::CompareStats stats = compared(plain_outputs[GetParam()]);
    ASSERT_EQ(stats.wrong, 0) << stats.worst_ratio;
    data_.honest = {oracle::honest_errors(stats)};
    data_.allowances = {oracle::allowance_of(data_.honest[0])};
  }

  Outputs computed(const codegen::NaiveOptions& options) const {
    auto outputs = codegen::run_compiled(ir::simplify(*task_.graph), data_.inputs, task_.shapes[0].symbols, options);
    EXPECT_TRUE(outputs) << outputs.error().message;
    return *std::move(outputs);
  }
  oracle::CompareStats compared(const Outputs& outputs) const {
    return oracle::compare(DType::f32, outputs[0].bytes, data_.expected[0], data_.bound[0], data_.nan_is_free,
                           data_.allowance(0));
  }
  bool refused(const Outputs& outputs) const {
    const oracle::CompareStats stats = compared(outputs);
    return stats.wrong > 0 || oracle::less_accurate(stats, data_.honest[0]).has_value();
  }
  Outputs filled(double value) const {
    Outputs outputs{ir::make_tensor(DType::f32, data_.expected[0].shape)};
    for (std::int64_t i = 0; i < outputs[0].elements(); ++i) outputs[0].as<float>()[i] = static_cast<float>(value);
    return outputs;
  }

  const Network& network_ = networks()[GetParam()];
  Task task_ = network_.task();
  std::unique_ptr<oracle::Reference> reference_;
  oracle::DataSet data_;
};

TEST_P(DeepNetworks, ErrorsAreTakenForAWalkAndBoundsSaySomething) {
  EXPECT_TRUE(reference_->errors_walk());
  double squares = 0, bounds = 0;
  for (std::int64_t i = 0; i < data_.expected[0].elements(); ++i) {
    squares += std::pow(data_.expected[0].as<double>()[i], 2);
    bounds += std::pow(data_.bound[0].as<double>()[i], 2);
  }
  EXPECT_LT(std::sqrt(bounds), 1e-2 * std::sqrt(squares));
  EXPECT_GT(data_.honest[0].rms, 1e-3) << "a bound that honest errors are far below says little";
}

TEST_P(DeepNetworks, SinglePrecisionInAnotherOrderIsHonest) { EXPECT_FALSE(refused(computed({}))); }

TEST_P(DeepNetworks, LowerPrecisionIsRefused) {
  for (const auto rounding : {codegen::OperandRounding::tf32, codegen::OperandRounding::bf16}) {
    codegen::NaiveOptions options;
    options.operand_rounding = rounding;
    EXPECT_TRUE(refused(computed(options)));
  }
}

TEST_P(DeepNetworks, ConstantsAreRefused) {
  for (const double value : {0.0, 1.0, data_.expected[0].as<double>()[0]}) EXPECT_TRUE(refused(filled(value)));
}

TEST_P(DeepNetworks, AnIgnoredLayerIsRefused) {
  for (const int left_out : {0, network_.layers / 2, network_.layers - 1}) {
    const Task shorter = network_.task(left_out);
    const auto values = ir::interpret(*shorter.graph, data_.inputs, task_.shapes[0].symbols);
    ASSERT_TRUE(values) << values.error().message;
    Outputs outputs = filled(0);
    for (std::int64_t i = 0; i < outputs[0].elements(); ++i)
      outputs[0].as<float>()[i] = static_cast<float>(values->at(0).as<double>()[i]);
    EXPECT_TRUE(refused(outputs)) << "layer " << left_out;
  }
}

TEST_P(DeepNetworks, AreAdmittedWithANote) {
  const auto admission = admit(task_, *reference_);
  ASSERT_TRUE(admission) << admission.error().message;
  EXPECT_TRUE(admission->admitted) << admission->reason;
  ASSERT_EQ(admission->notes.size(), 1U);
  EXPECT_NE(admission->notes[0].find("deep network"), std::string::npos);
  for (const char* trivial : {"zeros", "constant one", "ignoring input x", "ignoring input w0"})
    EXPECT_NE(std::ranges::find(admission->tried, trivial), admission->tried.end()) << trivial;
}

INSTANTIATE_TEST_SUITE_P(Networks, DeepNetworks, testing::Range<std::size_t>(0, networks().size()),
                         [](const auto& each) { return networks()[each.param].name; });

}  // namespace
}  // namespace kerf
