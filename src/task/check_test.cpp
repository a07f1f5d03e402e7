#include <gtest/gtest.h>

#include "task/task.hpp"

namespace kerf {
namespace {

const Task& task() {
  static const Task value = parse_task(R"([inputs]
x = "f32[rows, cols]"
w = "f32[cols]"
[shapes]
default = { rows = 64, cols = 40 }
[reference]
expr = "y = x * w\nz = x + w"
outputs = ["y", "z"]
)",
                                       "", "scale.toml")
                                .value();
  return value;
}

std::string check(const std::string& header) {
  const auto candidate = parse_candidate("k.cu", "/* kerf\ntarget: cuda\n" + header + "*/");
  if (!candidate) return candidate.error().message;
  const auto status = check_against(task(), *candidate);
  return status ? "" : status.error().message;
}

TEST(CheckAgainst, AcceptsAHeaderThatFits) {
  EXPECT_EQ(check("tune: BLOCK = {64}\nrequire: cols % 4 == 0\nscratch: s = f32[rows, BLOCK]\n"
                  "launch: a<<<rows, BLOCK>>>(x, s)\nlaunch: b<<<(rows, cols), BLOCK, 4*BLOCK>>>(s, w, y, z)\n"),
            "");
}

TEST(CheckAgainst, AcceptsACandidateWithoutLaunches) {
  EXPECT_EQ(check("tune: UNROLL = {4}\nscratch: s = f32[rows, UNROLL]\n"), "");
}

TEST(CheckAgainst, NamesTheNearestBufferAndSymbol) {
  EXPECT_EQ(check("launch: a<<<rows, 32>>>(xx, w, y, z)\n"),
            "k.cu: unknown buffer 'xx' in the launch of 'a' (did you mean 'x'?); choose one of: x, w, y, z");
  EXPECT_EQ(check("launch: a<<<row, 32>>>(x, w, y, z)\n"),
            "k.cu: unknown symbol 'row' in the launch of 'a' (did you mean 'rows'?); choose one of: cols, rows");
  EXPECT_NE(check("require: colls > 3\n").find("in 'require: colls > 3' (did you mean 'cols'?)"), std::string::npos);
  EXPECT_NE(check("scratch: s = f32[BLOCK]\nlaunch: a<<<rows, 32>>>(x, s, y, z)\n").find("unknown symbol 'BLOCK'"),
            std::string::npos);
}

TEST(CheckAgainst, ExplainsThatConstantsAreNotPassed) {
  EXPECT_NE(check("launch: a<<<rows, 32>>>(x, w, y, z, cols)\n").find("'cols', which is a compile-time constant"),
            std::string::npos);
}

TEST(CheckAgainst, WantsEveryOutputPassed) {
  EXPECT_EQ(check("launch: a<<<rows, 32>>>(x, w, y)\n"),
            "k.cu: no launch passes the output 'z', so it can never be written");
}

TEST(CheckAgainst, RefusesNamesThatAreTaken) {
  EXPECT_EQ(check("tune: rows = {1}\n"), "k.cu: tunable 'rows' has the name of a shape symbol");
  EXPECT_EQ(check("scratch: y = f32[4]\nlaunch: a<<<1, 1>>>(x, y, z)\n"),
            "k.cu: scratch buffer 'y' has the name of a buffer");
}

}  // namespace
}  // namespace kerf
