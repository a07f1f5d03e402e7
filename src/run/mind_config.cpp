#include "run/mind_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/toml_library.hpp"
#include "llm/models_file.hpp"
#include "run/mind_list.hpp"

namespace kerf {
namespace {

constexpr std::string_view kModelTable = "\n[[model]]\n";

}  // namespace

bool MindConfig::has(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }

bool MindConfig::has_agent() const {
  return std::ranges::any_of(names, [](const std::string& name) { return mind_entry(name).agent; });
}

Result<std::vector<std::string>> parse_mind_names(const std::string& text) {
  std::vector<std::string> known;
  for (const MindEntry& mind : all_minds()) known.emplace_back(mind.name);
  std::vector<std::string> names;
  for (const std::string& part : split(text, ',')) {
    std::string name(trim(part));
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fail(Errc::invalid_input, fmt::format("unknown mind '{}'{}; choose one of: {}", name,
                                                   did_you_mean(name, known), join(known, ", ")));
    if (std::find(names.begin(), names.end(), name) != names.end())
      return fail(Errc::invalid_input, fmt::format("the mind '{}' is named twice", name));
    names.push_back(std::move(name));
  }
  return names;
}

Status check_minds(const MindConfig& minds) {
  if (minds.has(kLlmMind) && minds.models.empty())
    return fail(Errc::invalid_input,
                "the llm mind needs a model: --model NAME, with --base-url URL where it is not OpenAI's, or --models "
                "FILE; tools/small_model.sh starts a small one on this machine");
  if (!minds.has(kLlmMind) && !minds.models.empty())
    return fail(Errc::invalid_input, "models are asked by the llm mind only: add --mind llm or --mind builtin,llm");
  if (minds.has(kCommandMind) == minds.command.empty())
    return fail(Errc::invalid_input, minds.command.empty()
                                         ? "the command mind needs a program: --agent-command 'PROGRAM ...'"
                                         : "--agent-command is for the command mind: add --mind command");
  for (const llm::ModelSpec& model : minds.models) {
    KERF_TRY_VOID(llm::parse_base_url(model.base_url));
    if (minds.budget.cost_usd > 0 && !model.price)
      return fail(Errc::invalid_input,
                  fmt::format("--max-cost needs the price of {}: give it in a file with --models (prompt_price and "
                              "reply_price, USD per million tokens), or limit --max-tokens",
                              model.name));
  }
  return {};
}

std::string to_toml(const MindConfig& minds) {
  const auto quoted = [](const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  };
  std::string text = fmt::format(
      "\n[minds]\nnames = {}\nmax_tokens = {}\nmax_cost = {}\ncommand = {}\ncommand_seconds = {}\nprompt_rule = {}\n"
      "shared_prompts = {}\nknowledge = {}\n",
      quoted(join(minds.names, ",")), minds.budget.tokens, minds.budget.cost_usd, quoted(minds.command),
      minds.command_seconds, quoted(std::string(prompt_rule_name(minds.prompt_rule))), minds.shared_prompts,
      minds.knowledge);
  if (!minds.models.empty()) text += "\n" + llm::to_toml(minds.models);
  return text;
}

Result<MindConfig> minds_from_toml(const std::string& text) {
  MindConfig minds;
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) return fail(Errc::invalid_input, "the run's configuration cannot be read");
  const auto table = parsed.table()["minds"];
  if (!table.is_table()) return minds;
  KERF_TRY(minds.names, parse_mind_names(table["names"].value_or(std::string(kBuiltinMind))));
  minds.budget.tokens = table["max_tokens"].value_or(std::int64_t{0});
  minds.budget.cost_usd = table["max_cost"].value_or(0.0);
  minds.command = table["command"].value_or(std::string());
  minds.command_seconds = table["command_seconds"].value_or(minds.command_seconds);
  KERF_TRY(minds.prompt_rule, agents::prompt_rule_from_name(table["prompt_rule"].value_or(std::string("mean"))));
  minds.shared_prompts = table["shared_prompts"].value_or(true);
  minds.knowledge = table["knowledge"].value_or(true);
  // Texts before the models are quoted, so that this is where they begin.
  if (const auto at = text.find(kModelTable); at != std::string::npos) {
    KERF_TRY(minds.models, llm::parse_models(text.substr(at), "the run's configuration"));
  }
  return minds;
}

}  // namespace kerf
