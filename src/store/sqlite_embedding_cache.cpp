// Vectors of texts in SQLite, in the file of the memory.

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "memory/embedding_cache.hpp"
#include "store/database.hpp"
#include "store/memory_database.hpp"

namespace kerf {
namespace {

class SqliteEmbeddingCache final : public EmbeddingCache {
 public:
  explicit SqliteEmbeddingCache(store::Database database) : database_(std::move(database)) {}

  Result<std::optional<std::vector<float>>> find(const std::string& model, const std::string& text) const override {
    auto row = database_.prepare("SELECT vector FROM embeddings WHERE model = ? AND text = ?");
    KERF_TRY(const bool found, row.text(model).text(text).step());
    if (!found) return std::optional<std::vector<float>>{};
    const std::string bytes = row.column_text(0);
    std::vector<float> vector(bytes.size() / sizeof(float));
    std::memcpy(vector.data(), bytes.data(), vector.size() * sizeof(float));
    for (const float value : vector)
      if (!std::isfinite(value)) return std::optional<std::vector<float>>{};
    return std::optional(std::move(vector));
  }

  Status keep(const std::string& model,
              const std::vector<std::pair<std::string, std::vector<float>>>& vectors) override {
    if (vectors.empty()) return {};
    KERF_TRY(store::Transaction transaction, store::Transaction::begin(database_));
    for (const auto& [text, vector] : vectors) {
      const std::string_view bytes(reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float));
      auto row = database_.prepare("INSERT OR REPLACE INTO embeddings (model, text, vector) VALUES (?, ?, ?)");
      KERF_TRY_VOID(row.text(model).text(text).blob(bytes).run());
    }
    KERF_TRY_VOID(database_.execute(fmt::format(
        "DELETE FROM embeddings WHERE number <= (SELECT max(number) FROM embeddings) - {}", kMostEmbeddings)));
    return transaction.commit();
  }

 private:
  mutable store::Database database_;
};

}  // namespace

Result<std::unique_ptr<EmbeddingCache>> open_embedding_cache(const std::filesystem::path& file) {
  KERF_TRY(store::Database database, store::open_memory_database(file));
  return std::make_unique<SqliteEmbeddingCache>(std::move(database));
}

}  // namespace kerf
