#include "run/run_config.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/toml_library.hpp"
#include "base/toml_text.hpp"
#include "run/settings.hpp"

namespace kerf {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string to_toml(const RunConfig& config, const std::string& task) {
  std::string text = fmt::format(
      "# How this run was started; 'kerf optimize --resume' reads it from the run's database.\n"
      "task = {}\ntarget = {}\ndevice = {}\nmethod = {}\nseed = \"{}\"\nevaluations = {}\nseconds = {}\nmemory_rule = "
      "{}\nskill_rule = {}\nmemory = {}\nrecord_chats = {}\nembedding_model = {}\nembedding_url = {}\n",
      quoted(task), quoted(config.target), quoted(config.device), quoted(config.search.search), config.search.seed,
      config.search.evaluations, config.search.seconds, quoted(std::string(memory::rule_name(config.memory_rule))),
      quoted(std::string(skill_rule_name(config.skill_rule))), quoted(config.memory), quoted(config.record_chats),
      quoted(config.embedding.model), quoted(config.embedding.base_url));
  std::string section;
  for (const auto& [name, value] : effective_settings(config.judge, config.search)) {
    const auto dot = name.find('.');
    if (name.substr(0, dot) != section) {
      section = name.substr(0, dot);
      text += fmt::format("\n[{}]\n", section);
    }
    text += fmt::format("{} = {}\n", name.substr(dot + 1), value);
  }
  return text + to_toml(config.minds);
}

Result<RunConfig> config_from_toml(const std::string& text) {
  RunConfig config;
  Settings settings;
  if (const auto found = toml_fault(text))
    return fail(Errc::invalid_input, fmt::format("the run's configuration cannot be read: {}", found->what));
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    return fail(Errc::invalid_input,
                fmt::format("the run's configuration cannot be read: {}", parsed.error().description()));
  const toml::table& table = parsed.table();
  const auto word = [&](const char* key) { return table[key].value_or(std::string()); };
  config.target = word("target");
  config.device = word("device");
  config.search.search = word("method");
  const std::string seed = word("seed");  // a text: TOML's integers are signed
  if (std::from_chars(seed.data(), seed.data() + seed.size(), config.search.seed).ec != std::errc())
    return fail(Errc::invalid_input, "the run's configuration has no seed");
  config.search.evaluations = table["evaluations"].value_or(config.search.evaluations);
  config.search.seconds = table["seconds"].value_or(config.search.seconds);
  KERF_TRY(config.minds, minds_from_toml(text));
  if (const std::string rule = word("memory_rule"); !rule.empty()) {  // older runs have none
    KERF_TRY(config.memory_rule, memory::rule_from_name(rule));
  }
  if (const std::string rule = word("skill_rule"); !rule.empty()) {  // likewise
    KERF_TRY(config.skill_rule, skill_rule_from_name(rule));
  }
  config.memory = word("memory");  // likewise
  config.record_chats = word("record_chats");
  config.embedding = {word("embedding_model"), word("embedding_url")};
  for (const auto& [section, node] : table)
    if (const toml::table* values = node.as_table(); values != nullptr && section.str() != "minds")
      for (const auto& [key, value] : *values)
        settings.options.emplace_back(fmt::format("{}.{}", std::string_view(section), std::string_view(key)),
                                      fmt::format("{}", value.value_or(0.0)));
  KERF_TRY_VOID(apply_settings(settings, config.judge, &config.search));
  return config;
}

}  // namespace kerf
