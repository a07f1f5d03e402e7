#include "llm/embeddings.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kerf::llm {
namespace {

class OneAnswer final : public HttpTransport {
 public:
  HttpOutcome outcome{HttpOutcome::End::complete, {200, "application/json", std::nullopt, ""}, ""};
  std::string body;
  std::vector<HttpRequest> asked;
  HttpOutcome post(const HttpRequest& request, const HttpLimits&, const OnBytes& on_bytes,
                   const std::atomic<bool>&) override {
    asked.push_back(request);
    std::string answer = body;
    if (answer == "count") {
      auto data = nlohmann::json::array();
      for (std::size_t i = 0; i < nlohmann::json::parse(request.body)["input"].size(); ++i)
        data.push_back({{"index", i}, {"embedding", {1.0, static_cast<double>(asked.size())}}});
      answer = nlohmann::json{{"data", data}}.dump();
    }
    if (!answer.empty()) on_bytes(outcome.head, answer);
    return outcome;
  }
};

Result<std::vector<std::vector<float>>> ask(OneAnswer& transport, const std::vector<std::string>& texts) {
  auto client = make_embedding_client({"mini", "http://127.0.0.1:1/v1"}, {}, transport);
  return client ? (*client)->embed(texts) : tl::unexpected<Error>(client.error());
}

TEST(Embeddings, AreReadInTheOrderOfTheTexts) {
  OneAnswer transport;
  transport.body = R"({"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[1,0.5]}]})";
  const auto vectors = ask(transport, {"a", "b"});
  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_EQ(*vectors, (std::vector<std::vector<float>>{{1, 0.5}, {0, 2}}));
  EXPECT_EQ(transport.asked[0].url, "http://127.0.0.1:1/v1/embeddings");
  EXPECT_EQ(nlohmann::json::parse(transport.asked[0].body)["input"], nlohmann::json({"a", "b"}));
}

TEST(Embeddings, ManyTextsAreAskedInParts) {
  OneAnswer transport;
  transport.body = "count";
  const auto vectors = ask(transport, std::vector<std::string>(150, std::string(9000, 'x')));
  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_EQ(vectors->size(), 150u);
  EXPECT_EQ(transport.asked.size(), 3u);
  EXPECT_LT(transport.asked[0].body.size(), 64 * 4100u);
}

TEST(Embeddings, WhateverAnEndpointSaysIsAnErrorWithItsReason) {
  const auto error = [](const std::string& body, int status = 200) {
    OneAnswer transport;
    transport.body = body;
    transport.outcome.head.status = status;
    const auto vectors = ask(transport, {"a", "b"});
    return vectors ? "none" : vectors.error().message;
  };
  EXPECT_NE(error("<html>").find("no list of embeddings"), std::string::npos);
  EXPECT_NE(error(R"({"data":[{"embedding":[1]}]})").find("2 texts with 1"), std::string::npos);
  EXPECT_NE(error(R"({"data":[{"embedding":[1]},{"embedding":[1,2]}]})").find("different lengths"), std::string::npos);
  EXPECT_NE(error(R"({"data":[{"embedding":[1]},{"embedding":"AAAA"}]})").find("is none"), std::string::npos);
  EXPECT_NE(error(R"({"data":[{"embedding":[1]},{"embedding":[null]}]})").find("no numbers"), std::string::npos);
  EXPECT_NE(error(R"({"data":[{"embedding":[1]},{"embedding":[1e300]}]})").find("no numbers"), std::string::npos);
  EXPECT_NE(error(R"({"data":[{"index":7,"embedding":[1]},{"embedding":[1]}]})").find("not those"), std::string::npos);
  EXPECT_NE(error("{\"error\":\"\x1b[31mno such model\"}", 404).find("HTTP status 404"), std::string::npos);
  EXPECT_EQ(error("\x1b[31mred", 500).find('\x1b'), std::string::npos) << "escapes do not reach a terminal";
}

TEST(Embeddings, AKeyDoesNotTravelUnencrypted) {
  OneAnswer transport;
  const Secret key = Secret::from_text("sk-secret", "here").value();
  EXPECT_FALSE(make_embedding_client({"m", "http://example.com/v1"}, key, transport));
  EXPECT_TRUE(make_embedding_client({"m", "https://example.com/v1"}, key, transport));
  EXPECT_FALSE(make_embedding_client({"", "https://example.com/v1"}, key, transport));
  transport.body = "who is sk-secret?";
  transport.outcome.head.status = 401;
  const auto failed = make_embedding_client({"m", "https://example.com/v1"}, key, transport).value()->embed({"a"});
  EXPECT_EQ(failed.error().message.find("sk-secret"), std::string::npos) << failed.error().message;
}

TEST(Embeddings, CosineIsThatOfTheAngle) {
  EXPECT_NEAR(cosine({1, 0}, {2, 0}), 1, 1e-9);
  EXPECT_NEAR(cosine({1, 0}, {0, 3}), 0, 1e-9);
  EXPECT_NEAR(cosine({1, 1}, {-1, -1}), -1, 1e-9);
  EXPECT_EQ(cosine({1}, {1, 1}), 0);
  EXPECT_EQ(cosine({}, {}), 0);
  EXPECT_EQ(cosine({0}, {1}), 0);
}

}  // namespace
}  // namespace kerf::llm
