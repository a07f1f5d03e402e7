#include "pytorch/small_shape.hpp"

#include <gtest/gtest.h>

#include "ir/analysis/cost.hpp"
#include "task/task.hpp"

namespace kerf::pytorch {
namespace {

Task parsed(const std::string& text) {
  auto task = parse_task(text, ".", "model.py");
  EXPECT_TRUE(task) << (task ? "" : task.error().message) << "\n" << text;
  return task ? *std::move(task) : Task{};
}

std::string task_text(const std::string& inputs, const std::string& lines) {
  return "name = \"m\"\n\n[inputs]\n" + inputs + "\n[reference]\nexpr = '''\n" + lines + "'''\noutputs = [\"out\"]\n";
}

std::vector<std::int64_t> extents(const ir::TensorType& tensor, const ShapeSet& shape) {
  std::vector<std::int64_t> all;
  for (const auto& dim : tensor.shape) all.push_back(dim.evaluate(shape.symbols).value());
  return all;
}

/// The real shape is what it was, the small one is checked only and takes a small part of the work.
void expect_same_and_smaller(const std::string& before, double part) {
  const std::string after = with_small_shape(before, "model.py");
  const Task old = parsed(before), task = parsed(after);
  ASSERT_EQ(task.shapes.size(), 2U) << after;
  ASSERT_EQ(task.shapes[0].name, "default");
  EXPECT_EQ(task.shapes[1].weight, 0);
  for (std::size_t i = 0; i < old.inputs.size(); ++i)
    EXPECT_EQ(extents(task.inputs[i], task.shapes[0]), extents(old.inputs[i], {}));
  EXPECT_EQ(extents(task.outputs[0], task.shapes[0]), extents(old.outputs[0], {}));
  const auto was = ir::cost(*old.graph, {}), real = ir::cost(*task.graph, task.shapes[0].symbols),
             small = ir::cost(*task.graph, task.shapes[1].symbols);
  EXPECT_EQ(real->fma_flops, was->fma_flops);
  EXPECT_EQ(real->bytes_read, was->bytes_read);
  EXPECT_LT(small->fma_flops + small->other_flops, part * (was->fma_flops + was->other_flops)) << after;
}

TEST(SmallShape, AProductGetsOne) {
  expect_same_and_smaller(task_text("a = \"f32[4096, 2048]\"\nb = \"f32[2048, 1000]\"\n", "out = a @ b\n"), 0.01);
}

TEST(SmallShape, WindowsAndGroupsStay) {
  const std::string text =
      task_text("x = \"f32[128, 3, 224, 224]\"\nw = \"f32[96, 3, 11, 11]\"\ng = \"f32[96]\"\n",
                "v1 = conv2d(x, w, stride=4, padding=2)\nout = group_norm(v1, 8, weight=g, bias=g)\n");
  expect_same_and_smaller(text, 0.01);
  const std::string after = with_small_shape(text, "model.py");
  EXPECT_NE(after.find(", 3, 11, 11]"), std::string::npos) << after;
}

TEST(SmallShape, WhatIsFlattenedIsAMultiple) {
  const std::string text = task_text("x = \"f32[64, 512, 7, 7]\"\nw = \"f32[4096, 25088]\"\n",
                                     "v1 = reshape(x, [64, 25088])\nout = linear(v1, w)\n");
  expect_same_and_smaller(text, 0.05);
  EXPECT_NE(with_small_shape(text, "model.py").find("*49"), std::string::npos);
}

TEST(SmallShape, HeadsAndPartsOfAWideProductGoTogether) {
  expect_same_and_smaller(
      task_text(
          "x = \"f32[128, 512, 768]\"\nw = \"f32[2304, 768]\"\nmask = \"f32[1, 1, 1024, 1024]\"\n",
          "v1 = linear(x, w)\nv2 = narrow(v1, 2, 0, 768)\nv3 = narrow(v1, 2, 768, 768)\nv4 = narrow(v1, 2, 1536, 768)\n"
          "q = transpose(reshape(v2, [128, 512, 8, 96]), 1, 2)\nk = transpose(reshape(v3, [128, 512, 8, 96]), 1, 2)\n"
          "v = transpose(reshape(v4, [128, 512, 8, 96]), 1, 2)\ns = q @ transpose(k, -2, -1)\n"
          "m = masked_fill(s, mask[:, :, :512, :512] == 0, -inf)\nr = softmax(m, axis=-1) @ v\n"
          "out = reshape(transpose(r, 1, 2), [128, 512, 768])\n"),
      0.001);
}

TEST(SmallShape, LongSumsKeepPiecesOfOneLength) {
  const std::string text = task_text("a = \"f32[256, 524288]\"\nb = \"f32[524288, 256]\"\n", "out = a @ b\n");
  expect_same_and_smaller(text, 0.01);
  EXPECT_NE(with_small_shape(text, "model.py").find("d64*8192"), std::string::npos);
}

TEST(SmallShape, ABatchIsNotAWindow) {
  const std::string text = task_text("x = \"f32[8, 32, 12, 24, 480]\"\nw = \"f32[32, 8, 3, 5, 7]\"\n",
                                     "out = conv_transpose3d(x, w, stride=2, groups=4)\n");
  expect_same_and_smaller(text, 0.5);
  EXPECT_NE(with_small_shape(text, "model.py").find("32, 8, 3, 5, 7]"), std::string::npos);
}

TEST(SmallShape, ClassIndicesStayInRange) {
  const std::string text =
      "name = \"m\"\n\n[inputs]\nx = \"f32[32768, 4096]\"\nt = \"i64[32768]\"\n\n[distributions]\n"
      "t = \"integers(0, 4095)\"\n\n[reference]\nexpr = '''\nout = cross_entropy(x, t)\n'''\n"
      "outputs = [\"out\"]\n";
  expect_same_and_smaller(text, 0.01);
  EXPECT_NE(with_small_shape(text, "model.py").find("integers(0, d4096 - 1)"), std::string::npos);
}

TEST(SmallShape, SmallTasksAndFixedOnesStayAsTheyAre) {
  const std::string small = task_text("x = \"f32[64, 64]\"\n", "out = relu(x)\n");
  EXPECT_EQ(with_small_shape(small, "model.py"), small);
  const std::string broken = "this is no task";
  EXPECT_EQ(with_small_shape(broken, "model.py"), broken);
}

}  // namespace
}  // namespace kerf::pytorch
