#pragma once
// Texts as vectors by a model behind an OpenAI-compatible endpoint (/embeddings): optional help in finding what is
// alike. Whatever goes wrong is an error with its reason; callers go on without.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "llm/http.hpp"
#include "llm/secret.hpp"

namespace kerf::llm {

/// Holds no key, so it may be stored.
struct EmbeddingSpec {
  std::string model;  ///< as the endpoint knows it; "": none is asked
  std::string base_url;

  bool operator==(const EmbeddingSpec&) const = default;
};

class EmbeddingModel {
 public:
  virtual ~EmbeddingModel() = default;
  virtual const std::string& name() const = 0;
  /// One vector a text, all of the same length. Texts are cut to `kLongestEmbedded` bytes.
  virtual Result<std::vector<std::vector<float>>> embed(const std::vector<std::string>& texts) = 0;
};

inline constexpr std::size_t kLongestEmbedded = 4000;  ///< bytes: small models read no more
inline constexpr std::size_t kMostDimensions = 8192;

/// Borrows the transport. An error when the address is none, or a key would travel unencrypted to another machine.
/// One attempt a question, a minute at most: what it helps with can be done without it.
Result<std::unique_ptr<EmbeddingModel>> make_embedding_client(const EmbeddingSpec& spec, const Secret& key,
                                                              HttpTransport& transport);

/// The vectors of an answer in the order of the texts; an error unless there are `count` of one length, all finite.
Result<std::vector<std::vector<float>>> parse_embeddings(std::string_view body, std::size_t count);

/// Cosine of the angle; 0 for vectors of different or no length.
double cosine(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace kerf::llm
