#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/step.hpp"

namespace kerf {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string to_json(const Exchange& exchange) {
  Json messages = Json::array();
  for (const Exchange::Message& message : exchange.messages)
    messages.push_back({{"role", message.role}, {"content", message.content}});
  const Json json = {{"role", exchange.role},
                     {"model", exchange.model},
                     {"prompt", exchange.prompt},
                     {"turn", exchange.turn},
                     {"messages", std::move(messages)},
                     {"reply", exchange.reply},
                     {"reasoning", exchange.reasoning},
                     {"outcome", exchange.outcome},
                     {"result", exchange.result},
                     {"prompt_tokens", exchange.prompt_tokens},
                     {"reply_tokens", exchange.reply_tokens},
                     {"cost_usd", exchange.cost_usd},
                     {"seconds", exchange.seconds}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Exchange> exchange_from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    Exchange exchange;
    for (const auto& [key, into] : {std::pair{"role", &exchange.role},
                                    {"model", &exchange.model},
                                    {"prompt", &exchange.prompt},
                                    {"reply", &exchange.reply},
                                    {"reasoning", &exchange.reasoning},
                                    {"outcome", &exchange.outcome}})
      *into = json.at(key).get<std::string>();
    exchange.result = json.value("result", "");
    exchange.turn = json.at("turn").get<int>();
    for (const Json& message : json.at("messages"))
      exchange.messages.push_back({message.at("role").get<std::string>(), message.at("content").get<std::string>()});
    exchange.prompt_tokens = json.at("prompt_tokens").get<std::int64_t>();
    exchange.reply_tokens = json.at("reply_tokens").get<std::int64_t>();
    exchange.cost_usd = json.at("cost_usd").get<double>();
    exchange.seconds = json.at("seconds").get<double>();
    return exchange;
  } catch (const std::exception& error) {
    return fail(Errc::io, fmt::format("a conversation that was kept cannot be read: {}", error.what()));
  }
}

}  // namespace kerf
