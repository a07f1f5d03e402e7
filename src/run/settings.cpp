#include "run/settings.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "judge/judge_settings.hpp"
#include "search/search_settings.hpp"

namespace kerf {
namespace {

constexpr double kUnbounded = 1e9;

Result<double> parse_value(const SettingFacts& facts, const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool read = error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
  if (read && number >= facts.least && number <= facts.most && (!facts.whole || number == std::floor(number)))
    return number;
  return fail(Errc::invalid_input, fmt::format("setting {}={}: expected a number ({}{}); 'kerf settings' lists all",
                                               facts.name, text, facts.whole ? "whole, " : "", range_text(facts)));
}

/// True when the list has the setting; its value is written then.
template <class Options>
Result<bool> apply(const std::vector<Setting<Options>>& list, const std::string& name, const std::string& value,
                   Options& options) {
  for (const Setting<Options>& one : list) {
    if (one.facts.name != name) continue;
    KERF_TRY(const double number, parse_value(one.facts, value));
    one.set(options, number);
    return true;
  }
  return false;
}

}  // namespace

Result<Settings> parse_settings(const std::vector<std::string>& texts) {
  Settings settings;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    const std::string key(trim(text.substr(0, equals)));
    const std::string value(equals == std::string::npos ? "" : trim(text.substr(equals + 1)));
    if (key.empty() || value.empty())
      return fail(Errc::invalid_input,
                  fmt::format("--set '{}': expected NAME=VALUE, for example --set {}", text,
                              text.find('.') != std::string::npos ? "search.patience=30" : "BLOCK=256"));
    if (key.find('.') != std::string::npos) {
      settings.options.emplace_back(key, value);
      continue;
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size())
      return fail(Errc::invalid_input, fmt::format("--set '{}': a tunable's value is an integer", text));
    if (!settings.tunables.emplace(key, number).second)
      return fail(Errc::invalid_input, fmt::format("--set gives '{}' twice", key));
  }
  return settings;
}

Status apply_settings(const Settings& settings, JudgeOptions& judge, SearchOptions* search) {
  for (const auto& [key, value] : settings.options) {
    KERF_TRY(bool known, apply(judge_settings(), key, value, judge));
    if (!known && search != nullptr) {
      KERF_TRY(known, apply(search_settings(), key, value, *search));
    }
    if (known) continue;
    std::vector<std::string> names;
    for (const SettingFacts& facts : all_settings())
      if (search != nullptr || !facts.name.starts_with("search.")) names.push_back(facts.name);
    return fail(Errc::invalid_input, fmt::format("unknown setting '{}'{}; choose one of: {}", key,
                                                 did_you_mean(key, names), join(names, ", ")));
  }
  return {};
}

std::vector<std::pair<std::string, double>> effective_settings(const JudgeOptions& judge, const SearchOptions& search) {
  std::vector<std::pair<std::string, double>> values;
  for (const auto& one : judge_settings()) values.emplace_back(one.facts.name, one.get(judge));
  for (const auto& one : search_settings()) values.emplace_back(one.facts.name, one.get(search));
  return values;
}

std::vector<SettingFacts> all_settings() {
  std::vector<SettingFacts> all;
  for (const auto& one : judge_settings()) all.push_back(one.facts);
  for (const auto& one : search_settings()) all.push_back(one.facts);
  return all;
}

std::string range_text(const SettingFacts& setting) {
  if (setting.most >= kUnbounded) return fmt::format("at least {}", setting.least);
  return fmt::format("{} to {}", setting.least, setting.most);
}

std::string settings_markdown() {
  std::string text =
      "# Settings\n\n"
      "Given as `--set NAME=VALUE`, kept in a run's `run.toml`, listed by `kerf settings`. `measure.*` and `judge.*` "
      "are\n"
      "for every command that judges kernels, `search.*` for `kerf optimize`. Those marked *key* are part of the key "
      "that\n"
      "verdicts are cached by. This file is written by `kerf settings --markdown`.\n\n"
      "| name | default | range | unit | key | what it is |\n|---|---|---|---|---|---|\n";
  for (const SettingFacts& one : all_settings())
    text += fmt::format("| `{}` | {} | {}{} | {} | {} | {} |\n", one.name, one.usual, range_text(one),
                        one.whole ? ", whole" : "", one.unit, one.in_key ? "key" : "", one.help);
  return text;
}

}  // namespace kerf
