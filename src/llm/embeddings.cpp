#include "llm/embeddings.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/one_line.hpp"

namespace kerf::llm {
namespace {

constexpr std::size_t kAtOnce = 64;       // texts of one question
constexpr std::size_t kShownWords = 200;  // bytes of what an endpoint says that an error repeats

HttpLimits embedding_limits() {
  HttpLimits limits;
  limits.connect = std::chrono::seconds(10);
  limits.first_byte = std::chrono::seconds(60);
  limits.silence = std::chrono::seconds(30);
  limits.total = std::chrono::seconds(60);
  limits.bytes = 32u << 20;
  return limits;
}

std::string end_words(const HttpOutcome& outcome) {
  using enum HttpOutcome::End;
  switch (outcome.end) {
    case no_connection: return "cannot be reached: " + outcome.detail;
    case no_first_byte:
    case silent:
    case took_too_long: return "does not answer in time";
    case too_large: return "answers with more than is taken";
    case broken: return "broke off: " + outcome.detail;
    default: return "";
  }
}

class EmbeddingClient final : public EmbeddingModel {
 public:
  EmbeddingClient(EmbeddingSpec spec, const Endpoint& endpoint, Secret key, HttpTransport& transport)
      : spec_(std::move(spec)),
        url_(endpoint.base_url + "/embeddings"),
        key_(std::move(key)),
        transport_(transport),
        limits_(embedding_limits()) {}

  const std::string& name() const override { return spec_.model; }

  Result<std::vector<std::vector<float>>> embed(const std::vector<std::string>& texts) override {
    std::vector<std::vector<float>> all;
    for (std::size_t begin = 0; begin < texts.size(); begin += kAtOnce) {
      const std::size_t end = std::min(texts.size(), begin + kAtOnce);
      KERF_TRY(auto some, ask({texts.begin() + static_cast<std::ptrdiff_t>(begin),
                               texts.begin() + static_cast<std::ptrdiff_t>(end)}));
      for (auto& one : some) all.push_back(std::move(one));
    }
    for (const auto& one : all)
      if (one.size() != all.front().size()) return wrong("its answers have different lengths");
    return all;
  }

 private:
  tl::unexpected<Error> wrong(const std::string& what) const {
    return fail(Errc::unavailable, fmt::format("the embedding model {} at {}: {}", spec_.model, spec_.base_url,
                                               one_line(what.substr(0, kShownWords))));
  }

  Result<std::vector<std::vector<float>>> ask(std::vector<std::string> texts) {
    for (std::string& one : texts)
      if (one.size() > kLongestEmbedded) one.resize(kLongestEmbedded);
    const nlohmann::json question{{"model", spec_.model}, {"input", texts}, {"encoding_format", "float"}};
    const HttpRequest request{url_, question.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), key_};
    std::string body;
    int status = 0;
    const std::atomic<bool> never{false};
    const HttpOutcome outcome = transport_.post(
        request, limits_,
        [&](const HttpHead& head, std::string_view bytes) {
          status = head.status;
          body += bytes;
          return true;
        },
        never);
    if (status == 0) status = outcome.head.status;
    if (const std::string words = end_words(outcome); !words.empty()) return wrong(words);
    if (status != 200) return wrong(key_.scrub(fmt::format("HTTP status {}: {}", status, body)));
    auto vectors = parse_embeddings(body, texts.size());
    if (!vectors) return wrong(vectors.error().message);
    return vectors;
  }

  const EmbeddingSpec spec_;
  const std::string url_;
  const Secret key_;
  HttpTransport& transport_;
  const HttpLimits limits_;
};

}  // namespace

Result<std::unique_ptr<EmbeddingModel>> make_embedding_client(const EmbeddingSpec& spec, const Secret& key,
                                                              HttpTransport& transport) {
  if (spec.model.empty()) return fail(Errc::invalid_input, "an embedding model needs a name: --embedding-model NAME");
  KERF_TRY(const Endpoint endpoint, parse_base_url(spec.base_url));
  if (!key.empty() && !endpoint.encrypted && !endpoint.on_this_machine)
    return fail(
        Errc::invalid_input,
        fmt::format("the key would travel unencrypted to {}; give its address with https://", endpoint.base_url));
  return std::make_unique<EmbeddingClient>(spec, endpoint, key, transport);
}

Result<std::vector<std::vector<float>>> parse_embeddings(std::string_view body, std::size_t count) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  const auto wrong = [](const std::string& what) { return fail(Errc::invalid_input, what); };
  if (!json.is_object() || !json.contains("data") || !json["data"].is_array())
    return wrong("its answer is no list of embeddings");
  const auto& data = json["data"];
  if (data.size() != count) return wrong(fmt::format("it answers {} texts with {} vectors", count, data.size()));
  std::vector<std::vector<float>> vectors(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& item = data[i];
    if (!item.is_object() || !item.contains("embedding") || !item["embedding"].is_array())
      return wrong("a vector of its answer is none");
    std::size_t place = i;
    if (const auto index = item.find("index"); index != item.end() && index->is_number_unsigned())
      place = index->get<std::size_t>();
    if (place >= count || !vectors[place].empty())
      return wrong("the numbers of its vectors are not those of the texts");
    const auto& values = item["embedding"];
    if (values.empty() || values.size() > kMostDimensions)
      return wrong(fmt::format("a vector of its answer has {} values", values.size()));
    for (const auto& value : values) {
      if (!value.is_number() || !std::isfinite(value.get<float>()))
        return wrong("a vector of its answer has no numbers");
      vectors[place].push_back(value.get<float>());
    }
    if (vectors[place].size() != data[0]["embedding"].size()) return wrong("its vectors have different lengths");
  }
  return vectors;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return 0;
  double dot = 0, left = 0, right = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += static_cast<double>(a[i]) * b[i];
    left += static_cast<double>(a[i]) * a[i];
    right += static_cast<double>(b[i]) * b[i];
  }
  return left > 0 && right > 0 ? dot / std::sqrt(left * right) : 0;
}

}  // namespace kerf::llm
