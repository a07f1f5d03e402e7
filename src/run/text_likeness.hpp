#pragma once
// How alike texts are by an embedding model. Help that may fail: whoever asks goes on without it.

#include <string>
#include <utility>
#include <vector>

#include "llm/embeddings.hpp"
#include "memory/embedding_cache.hpp"
#include "memory/memory_store.hpp"
#include "memory/signature.hpp"

namespace kerf {

/// Not thread-safe.
class TextLikeness {
 public:
  /// Borrows both. `cache` may be null. `place`: what vectors are kept under, the model's endpoint and name.
  TextLikeness(llm::EmbeddingModel& model, std::string place, EmbeddingCache* cache)
      : model_(model), place_(std::move(place)), cache_(cache) {}

  /// Cosine of `text` with each of `others`; empty where the model failed, now or before: it is asked no more then.
  std::vector<double> to(const std::string& text, const std::vector<std::string>& others);

  /// Why it failed, once, for people; "" while it did not.
  const std::string& problem() const { return problem_; }
  /// The same, but only once.
  std::string untold_problem() { return std::exchange(told_, !problem_.empty()) ? "" : problem_; }

 private:
  Result<std::vector<std::vector<float>>> vectors(const std::vector<std::string>& texts);

  llm::EmbeddingModel& model_;
  const std::string place_;
  EmbeddingCache* cache_;
  std::string problem_;
  bool told_ = false;
};

/// By task id, of all tasks of the target that the memory knows: how alike their texts are to the task's. Empty where
/// nothing is known or the model failed.
memory::TextSimilarity text_similarities(const MemoryStore& store, const memory::TaskSignature& task,
                                         TextLikeness& likeness);

}  // namespace kerf
