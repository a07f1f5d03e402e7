#include "app/cli/embedding_option.hpp"

#include <fmt/format.h>

#include "app/cli/memory_option.hpp"

namespace kerf::cli {
namespace {

constexpr const char* kUsualAddress = "https://api.openai.com/v1";
constexpr const char* kUsualKey = "OPENAI_API_KEY";

}  // namespace

Status overlay_embedding(const EmbeddingOptions& options, llm::EmbeddingSpec& spec) {
  if (!options.model.empty()) spec = {options.model, kUsualAddress};
  if (spec.model.empty() && !options.url.empty())
    return fail(Errc::invalid_input, "--embedding-url belongs to a model: add --embedding-model NAME");
  if (!options.url.empty()) spec.base_url = options.url;
  if (!spec.model.empty()) {
    KERF_TRY_VOID(llm::parse_base_url(spec.base_url));
  }
  return {};
}

Result<std::unique_ptr<EmbeddingTools>> open_embeddings(const llm::EmbeddingSpec& spec, const std::string& key_file,
                                                        const std::string& memory, const Environment& environment,
                                                        Console& console) {
  if (spec.model.empty()) return nullptr;
  llm::Secret key;
  if (!key_file.empty()) {
    KERF_TRY(key, llm::Secret::from_file(key_file));
  } else if (const auto found = environment.whole.find(kUsualKey);
             found != environment.whole.end() && !found->second.empty()) {
    KERF_TRY(key, llm::Secret::from_text(found->second, kUsualKey));
  }
  auto tools = std::make_unique<EmbeddingTools>();
  auto transport = llm::open_curl_transport();
  if (!transport) {
    console.err << fmt::format("warning: no embeddings: {}\n", transport.error().message) << std::flush;
    return nullptr;
  }
  tools->transport = *std::move(transport);
  KERF_TRY(tools->model, llm::make_embedding_client(spec, key, *tools->transport));
  if (const auto file = memory_file(memory, environment); !file.empty())
    if (auto cache = open_embedding_cache(file)) tools->cache = *std::move(cache);
  tools->likeness = std::make_unique<TextLikeness>(*tools->model, fmt::format("{} {}", spec.base_url, spec.model),
                                                   tools->cache.get());
  return tools;
}

}  // namespace kerf::cli
