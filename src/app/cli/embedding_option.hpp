#pragma once
// The embedding model that helps to find what is alike, where one was asked for.

#include <memory>
#include <string>

#include "app/cli/environment.hpp"
#include "base/result.hpp"
#include "llm/embeddings.hpp"
#include "run/text_likeness.hpp"

namespace kerf::cli {

struct EmbeddingOptions {
  std::string model;     ///< "": none, or that of the run
  std::string url;       ///< "": OpenAI's
  std::string key_file;  ///< "": OPENAI_API_KEY
};

/// The options over what the configuration says; an address without a model is an error.
Status overlay_embedding(const EmbeddingOptions& options, llm::EmbeddingSpec& spec);

/// Everything that stands behind a likeness, in the order in which it is borrowed.
struct EmbeddingTools {
  std::unique_ptr<llm::HttpTransport> transport;
  std::unique_ptr<llm::EmbeddingModel> model;
  std::unique_ptr<EmbeddingCache> cache;  ///< null where there is no memory
  std::unique_ptr<TextLikeness> likeness;
};

/// Null without a model. Where this machine cannot ask any, that is a warning and null too. `memory` as --memory has
/// it.
Result<std::unique_ptr<EmbeddingTools>> open_embeddings(const llm::EmbeddingSpec& spec, const std::string& key_file,
                                                        const std::string& memory, const Environment& environment,
                                                        Console& console);

}  // namespace kerf::cli
