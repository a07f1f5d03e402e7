#include <fmt/format.h>

#include "app/cli/run_text.hpp"
#include "base/one_line.hpp"
#include "base/printable.hpp"

namespace kerf::cli {
namespace {

std::string speech(const std::string& who, const std::string& text, const Style& style) {
  return paint(fmt::format("  [{}]", one_line(who)), Colour::bold, style) + "\n" + printable(text) +
         (text.ends_with('\n') ? "" : "\n");
}

}  // namespace

std::string chat_text(const std::vector<Exchange>& exchanges, bool whole, const Style& style) {
  if (exchanges.empty()) return "";
  std::string text = "\n" + paint("Conversation", Colour::bold, style) + "\n";
  for (const Exchange& one : exchanges) {
    text += fmt::format("{} asked as {}, turn {}, prompt {}: {}; {} and {} tokens in {}", one_line(one.model),
                        one_line(one.role), one.turn, one.prompt.empty() ? "-" : one_line(one.prompt),
                        one_line(one.outcome), one.prompt_tokens, one.reply_tokens, format_seconds(one.seconds));
    if (one.cost_usd > 0) text += fmt::format(", {:.4f} USD", one.cost_usd);
    text += "\n";
    if (!whole) continue;
    for (const Exchange::Message& message : one.messages) text += speech(message.role, message.content, style);
    if (!one.reasoning.empty()) text += speech("reasoning", one.reasoning, style);
    text += speech("reply", one.reply, style);
  }
  if (!whole) text += paint("--chat shows what was said\n", Colour::dim, style);
  return text;
}

}  // namespace kerf::cli
