#include "propose/agents/reply.hpp"

#include <gtest/gtest.h>

namespace kerf::agents {
namespace {

constexpr const char* kKernel = "/* kerf\ntarget: cpu\n*/\nint a = 1;\nint b = 2;\n";

std::string error(const std::string& reply, const std::string& base = kKernel) {
  const auto kernel = kernel_from_reply(reply, base);
  return kernel ? "a kernel" : kernel.error().message;
}

TEST(Reply, TheLastBlockWithAHeaderIsTheKernel) {
  const std::string reply =
      std::string(
          "First a sketch:\n```cpp\nfor (;;) {}\nlong long text here that is longer than it all\n```\n"
          "Now:\n```cpp\n/* kerf\n*/\nold\n```\nBetter:\n```cpp\n") +
      kKernel + "```\nDone.";
  EXPECT_EQ(kernel_from_reply(reply, "").value(), kKernel);
}

TEST(Reply, ABlockWithoutAHeaderOrAnEndIsTakenToo) {
  EXPECT_EQ(kernel_from_reply("```\nshort\n```\n```cpp\nmuch longer\n", "").value(), "much longer\n");
  EXPECT_EQ(kernel_from_reply("Here it is\r\n```cpp\r\nx\r\n```", "").value(), "x\n");
}

TEST(Reply, ABareFileIsTaken) { EXPECT_EQ(kernel_from_reply(std::string("Sure.\n") + kKernel, "").value(), kKernel); }

TEST(Reply, ThoughtsAreNotTheAnswer) {
  EXPECT_EQ(kernel_from_reply("<think>\n```\nwrong\n```\n</think>\n```\nright\n```", "").value(), "right\n");
}

TEST(Reply, EditsAreExact) {
  const std::string edit = "<<<<<<< SEARCH\nint a = 1;\n=======\nint a = 7;\nint c;\n>>>>>>> REPLACE\n";
  EXPECT_EQ(kernel_from_reply("Change:\n```\n" + edit + "```", kKernel).value(),
            "/* kerf\ntarget: cpu\n*/\nint a = 7;\nint c;\nint b = 2;\n");
  const std::string both = edit + "<<<<<<< SEARCH\nint b = 2;\n=======\n>>>>>>> REPLACE\n";
  EXPECT_EQ(kernel_from_reply(both, kKernel).value(), "/* kerf\ntarget: cpu\n*/\nint a = 7;\nint c;\n");
}

TEST(Reply, EditsThatDoNotFitSayWhy) {
  EXPECT_NE(error("<<<<<<< SEARCH\nint z;\n=======\n>>>>>>> REPLACE").find("does not occur in the kernel: int z;"),
            std::string::npos);
  EXPECT_NE(error("<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE", "x\nx\n").find("several times"), std::string::npos);
  EXPECT_NE(error("<<<<<<< SEARCH\nint a = 1;\n").find("edit 1"), std::string::npos);
  EXPECT_NE(error("<<<<<<< SEARCH\n=======\ny\n>>>>>>> REPLACE").find("nothing"), std::string::npos);
  EXPECT_NE(error("<<<<<<< SEARCH\na\n=======\ny\n>>>>>>> REPLACE", "").find("whole file"), std::string::npos);
}

TEST(Reply, WhatHoldsNoKernelIsRefused) {
  for (const char* reply : {"", "I cannot do that.", "```\n```", "```cpp\n  \n```\n/* kerf"})
    EXPECT_NE(error(reply).find("no kernel"), std::string::npos) << reply;
}

}  // namespace
}  // namespace kerf::agents
