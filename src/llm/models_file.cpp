#include "llm/models_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "base/toml_library.hpp"
#include "base/toml_text.hpp"

namespace kerf::llm {
namespace {

/// One key of a [[model]] table.
struct Key {
  std::string name;
  std::function<bool(ModelSpec&, const toml::node&)> read;  ///< false: the value is none
};

template <class Set>
std::function<bool(ModelSpec&, const toml::node&)> text(Set set) {
  return [set](ModelSpec& model, const toml::node& node) {
    const auto value = node.value_exact<std::string>();
    if (!value || value->empty()) return false;
    set(model, *value);
    return true;
  };
}

template <class Set>
std::function<bool(ModelSpec&, const toml::node&)> number(double least, double most, Set set) {
  return [=](ModelSpec& model, const toml::node& node) {
    const auto value = node.is_number() ? node.value<double>() : std::nullopt;
    if (!value || !(*value >= least && *value <= most)) return false;
    set(model, *value);
    return true;
  };
}

Price& price_of(ModelSpec& model) {
  if (!model.price) model.price.emplace();
  return *model.price;
}

const std::vector<Key>& keys() {
  static const std::vector<Key> all = {
      {"name", text([](ModelSpec& m, const std::string& v) { m.name = v; })},
      {"base_url", text([](ModelSpec& m, const std::string& v) { m.base_url = v; })},
      {"key_file", text([](ModelSpec& m, const std::string& v) { m.key_file = v; })},
      {"prompt_price", number(0, 1e6, [](ModelSpec& m, double v) { price_of(m).prompt = v; })},
      {"reply_price", number(0, 1e6, [](ModelSpec& m, double v) { price_of(m).reply = v; })},
      {"context_tokens",
       number(1024, 1e8, [](ModelSpec& m, double v) { m.context_tokens = static_cast<std::int64_t>(v); })},
      {"max_reply_tokens",
       number(256, 1e7, [](ModelSpec& m, double v) { m.max_reply_tokens = static_cast<std::int64_t>(v); })},
      {"temperature", number(0, 2, [](ModelSpec& m, double v) { m.temperature = v; })},
      {"first_byte_seconds", number(0.1, 86400, [](ModelSpec& m, double v) { m.first_byte_seconds = v; })},
      {"silence_seconds", number(0.1, 86400, [](ModelSpec& m, double v) { m.silence_seconds = v; })},
      {"at_once", number(1, 256, [](ModelSpec& m, double v) { m.rate.at_once = static_cast<int>(v); })},
      {"requests_per_minute",
       number(0, 1e6, [](ModelSpec& m, double v) { m.rate.requests_per_minute = static_cast<int>(v); })},
      {"tokens_per_minute",
       number(0, 1e12, [](ModelSpec& m, double v) { m.rate.tokens_per_minute = static_cast<std::int64_t>(v); })},
  };
  return all;
}

std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (const Key& key : keys()) names.push_back(key.name);
  return names;
}

Result<ModelSpec> read_model(const toml::table& table, const std::string& where) {
  ModelSpec model;
  for (const auto& [name, node] : table) {
    const std::string word(name.str());
    const auto key = std::find_if(keys().begin(), keys().end(), [&](const Key& one) { return one.name == word; });
    const auto line = node.source().begin.line;
    if (key == keys().end())
      return fail(Errc::invalid_input, fmt::format("{}:{}: unknown key '{}'{}; choose one of: {}", where, line, word,
                                                   did_you_mean(word, key_names()), join(key_names(), ", ")));
    if (!key->read(model, node))
      return fail(Errc::invalid_input,
                  fmt::format("{}:{}: '{}' has a value it cannot have (docs/formats.md)", where, line, word));
  }
  const auto line = table.source().begin.line;
  if (model.name.empty() || model.base_url.empty())
    return fail(Errc::invalid_input, fmt::format("{}:{}: a model needs 'name' and 'base_url'", where, line));
  if (table.contains("prompt_price") != table.contains("reply_price"))
    return fail(Errc::invalid_input,
                fmt::format("{}:{}: 'prompt_price' and 'reply_price' belong together", where, line));
  return model;
}

std::string quoted(const std::string& value) { return nlohmann::json(value).dump(); }

}  // namespace

Result<std::vector<ModelSpec>> parse_models(const std::string& source, const std::string& where) {
  if (const auto found = toml_fault(source))
    return fail(Errc::invalid_input, fmt::format("{}: {} (byte {})", where, found->what, found->at));
  const toml::parse_result parsed = toml::parse(source);
  if (!parsed)
    return fail(Errc::invalid_input,
                fmt::format("{}:{}: {}", where, parsed.error().source().begin.line, parsed.error().description()));
  std::vector<ModelSpec> models;
  std::set<std::string> names;
  for (const auto& [name, node] : parsed.table()) {
    const std::string word(name.str());
    const toml::array* list = node.as_array();
    if (word != "model" || list == nullptr || !list->is_array_of_tables())
      return fail(Errc::invalid_input, fmt::format("{}:{}: '{}' is not known here; the file is a list of [[model]]",
                                                   where, node.source().begin.line, word));
    for (const toml::node& entry : *list) {
      KERF_TRY(ModelSpec model, read_model(*entry.as_table(), where));
      if (!names.insert(model.name).second)
        return fail(Errc::invalid_input, fmt::format("{}: the model '{}' is there twice", where, model.name));
      models.push_back(std::move(model));
    }
  }
  if (models.empty()) return fail(Errc::invalid_input, where + " has no [[model]]");
  return models;
}

std::string to_toml(const std::vector<ModelSpec>& models) {
  std::string result;
  for (const ModelSpec& model : models) {
    result += fmt::format("[[model]]\nname = {}\nbase_url = {}\n", quoted(model.name), quoted(model.base_url));
    if (model.price)
      result += fmt::format("prompt_price = {}\nreply_price = {}\n", model.price->prompt, model.price->reply);
    result += fmt::format("context_tokens = {}\nmax_reply_tokens = {}\n", model.context_tokens, model.max_reply_tokens);
    if (model.temperature) result += fmt::format("temperature = {}\n", *model.temperature);
    if (model.first_byte_seconds) result += fmt::format("first_byte_seconds = {}\n", *model.first_byte_seconds);
    if (model.silence_seconds) result += fmt::format("silence_seconds = {}\n", *model.silence_seconds);
    result += fmt::format("at_once = {}\nrequests_per_minute = {}\ntokens_per_minute = {}\n", model.rate.at_once,
                          model.rate.requests_per_minute, model.rate.tokens_per_minute);
    if (!model.key_file.empty()) result += fmt::format("key_file = {}\n", quoted(model.key_file));
    result += "\n";
  }
  return result;
}

}  // namespace kerf::llm
