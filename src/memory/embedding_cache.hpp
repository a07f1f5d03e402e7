#pragma once
// Vectors of texts that an embedding model was asked for before. SQLite behind it is in store/.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace kerf {

/// Not thread-safe; several processes may use one file at a time.
class EmbeddingCache {
 public:
  virtual ~EmbeddingCache() = default;
  /// `text`: the SHA-256 of a text.
  virtual Result<std::optional<std::vector<float>>> find(const std::string& model, const std::string& text) const = 0;
  /// In one commit; those that were kept first are dropped beyond the limit.
  virtual Status keep(const std::string& model,
                      const std::vector<std::pair<std::string, std::vector<float>>>& vectors) = 0;
};

inline constexpr int kMostEmbeddings = 20000;  ///< kept

/// In the file of the memory; made and brought up to date as `open_memory_store` does.
Result<std::unique_ptr<EmbeddingCache>> open_embedding_cache(const std::filesystem::path& file);

}  // namespace kerf
