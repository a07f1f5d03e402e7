#include <gtest/gtest.h>

#include "task/task.hpp"

namespace kerf {
namespace {

Result<Task> requiring(const std::string& scalars,
                       const std::string& inputs = "x = \"f32[rows, cols]\"\nw = \"f32[cols]\"",
                       const std::string& expression = "y = x * w") {
  return parse_task("name = \"t\"\n" + scalars + "\n[inputs]\n" + inputs +
                        "\n[shapes]\na = { rows = 4, cols = 3 }\n[reference]\nexpr = \"" + expression +
                        "\"\noutputs = [\"y\"]\n",
                    ".", "t.toml");
}

std::string refusal(const Result<Task>& task) { return task ? "accepted" : task.error().message; }

TEST(Requirements, AreReadAndChangeTheId) {
  const Task plain = requiring("").value();
  EXPECT_FALSE(plain.require_deterministic || plain.require_batch_invariant);
  EXPECT_EQ(plain.batch, "rows");
  const Task both = requiring("require = [\"deterministic\", \"batch_invariant\"]").value();
  EXPECT_TRUE(both.require_deterministic && both.require_batch_invariant);
  EXPECT_NE(both.id, plain.id);
  EXPECT_EQ(requiring("require = []").value().id, plain.id);
}

TEST(Requirements, UnknownOnesAreNamedWithTheKnown) {
  const std::string words = refusal(requiring("require = [\"determinstic\"]"));
  EXPECT_NE(words.find("did you mean 'deterministic'"), std::string::npos) << words;
  EXPECT_NE(words.find("choose one of: deterministic, batch_invariant"), std::string::npos) << words;
  EXPECT_NE(refusal(requiring("require = \"deterministic\"")), "accepted");
}

TEST(Requirements, BatchInvariantNeedsABatch) {
  const std::string need = "require = [\"batch_invariant\"]";
  const std::string words = refusal(requiring(need, "x = \"f32[rows, cols]\"", "y = sum(x, axis=0)"));
  EXPECT_NE(words.find("needs a shape symbol that is the first extent of every output"), std::string::npos) << words;
  EXPECT_NE(refusal(requiring(need, "x = \"f32[rows, cols]\"\nb = \"f32[cols, rows]\"", "y = matmul(x, b)")),
            "accepted")
      << "rows is an extent of b as well";
  EXPECT_NE(refusal(requiring(need, "x = \"f32[2*rows, cols]\"", "y = x * 2")), "accepted");
  EXPECT_EQ(refusal(requiring(need)), "accepted");
  EXPECT_EQ(refusal(requiring("require = [\"deterministic\"]", "x = \"f32[rows, cols]\"", "y = sum(x, axis=0)")),
            "accepted");
}

}  // namespace
}  // namespace kerf
