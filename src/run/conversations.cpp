#include "run/conversations.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kerf {
namespace {

void cut(std::string& text) {
  if (text.size() <= kShownText) return;
  std::size_t end = kShownText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;  // not inside of a character
  text = fmt::format("{}\n... {} bytes more", text.substr(0, end), text.size() - end);
}

void append(std::string& list, const std::string& word) { list += (list.empty() ? "" : ", ") + word; }

}  // namespace

Result<Conversations> load_conversations(const RunStore& store, const std::vector<Step>& steps) {
  Conversations all;
  for (const Step& step : steps) {
    KERF_TRY(std::vector<Exchange> exchanges, store.exchanges(step.number));
    if (exchanges.empty()) continue;
    for (Exchange& one : exchanges) {
      for (Exchange::Message& message : one.messages) cut(message.content);
      cut(one.reply);
      cut(one.reasoning);
    }
    all.emplace(step.number, std::move(exchanges));
  }
  return all;
}

ConversationSum sum_of(const std::vector<Exchange>& exchanges) {
  ConversationSum sum;
  std::vector<std::string> models;
  for (const Exchange& one : exchanges) {
    if (std::ranges::find(models, one.model) == models.end()) models.push_back(one.model);
    append(sum.questions, one.role + (one.outcome == "reply" ? "" : fmt::format(" ({})", one.outcome)));
    sum.prompt_tokens += one.prompt_tokens;
    sum.reply_tokens += one.reply_tokens;
    sum.cost_usd += one.cost_usd;
    sum.seconds += one.seconds;
  }
  for (const std::string& model : models) append(sum.models, model);
  return sum;
}

}  // namespace kerf
