#include "memory/embedding_cache.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

TEST(EmbeddingCache, KeepsVectorsByModelAndText) {
  const auto file = std::filesystem::path(testing::TempDir()) / "kerf_embeddings" / "memory.db";
  std::filesystem::remove_all(file.parent_path());
  const std::vector<float> vector{1.5f, -2.0f, 0.0f};
  {
    auto cache = open_embedding_cache(file);
    ASSERT_TRUE(cache) << cache.error().message;
    ASSERT_TRUE((*cache)->keep("m", {{"a", vector}, {"b", {1.0f}}}));
    ASSERT_TRUE((*cache)->keep("m", {{"b", {2.0f}}}));
  }
  const auto cache = open_embedding_cache(file);
  ASSERT_TRUE(cache) << cache.error().message;
  EXPECT_EQ((*cache)->find("m", "a").value(), vector);
  EXPECT_EQ((*cache)->find("m", "b").value(), std::vector<float>{2.0f});
  EXPECT_FALSE((*cache)->find("other", "a").value());
  EXPECT_FALSE((*cache)->find("m", "c").value());
}

}  // namespace
}  // namespace kerf
