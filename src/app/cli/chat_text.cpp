#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

std::string conversations_text(const RunView& run, int most, const Style& style) {
  if (run.conversations.empty()) return "";
  const std::size_t shown = std::min(run.conversations.size(), static_cast<std::size_t>(std::max(most, 1)));
  std::vector<std::vector<Cell>> rows{
      {{"step", Colour::none, true}, {"model"}, {"asked as"}, {"tokens", Colour::none, true}, {"outcome"}}};
  for (auto it = std::prev(run.conversations.end(), static_cast<std::ptrdiff_t>(shown)); it != run.conversations.end();
       ++it) {
    const ConversationSum sum = sum_of(it->second);
    const Step& step = run.step(it->first);
    const double speedup = speedup_of(run, step);
    const std::string gate(outcome_gate(step.evaluation.outcome));
    rows.push_back({{std::to_string(it->first), Colour::none, true},
                    {fit(one_line(sum.models), 24)},
                    {fit(one_line(sum.questions), 24)},
                    {fmt::format("{}+{}", sum.prompt_tokens, sum.reply_tokens), Colour::none, true},
                    {speedup > 0 ? format_speedup(speedup)
                                 : one_line(fmt::format("{}{}", outcome_name(step.evaluation.outcome),
                                                        gate.empty() ? "" : " (" + gate + ")"))}});
  }
  std::string text = "\n" + paint("Conversations", Colour::bold, style) + "\n" + table(rows, style);
  if (shown < run.conversations.size())
    text += fmt::format("the last {} of {}; --top N shows more\n", shown, run.conversations.size());
  return text + paint("kerf explain RUN STEP --chat has what was said\n", Colour::dim, style);
}

}  // namespace kerf::cli
