#include "skill/skill_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/toml_library.hpp"
#include "base/toml_text.hpp"
#include "memory/limits.hpp"

namespace kerf::skill {

/// Generated: path and text of every file under skills/.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

namespace {

using Json = nlohmann::ordered_json;
using memory::limited_number;

constexpr std::size_t kLongestName = 64, kLongestDescription = 400, kLongestMotivation = 1500, kLongestIdea = 3000,
                      kLongestExample = 6000, kLongestTag = 60, kLongestCondition = 240, kLongestReason = 400;
constexpr std::size_t kMostTags = 16, kMostConditions = 8, kMostHints = 8, kMostParents = 16, kMostPlaces = 16;
constexpr const char* kLinesKind = "kerf skills";

tl::unexpected<Error> wrong(std::string_view key, const std::string& what) {
  return fail(Errc::invalid_input, fmt::format("'{}' is not {}", key, what));
}

/// Texts are shown on terminals and pages and put into prompts.
Result<std::string> text_of(const Json& object, const char* key, std::size_t longest, bool needed = false) {
  const auto found = object.find(key);
  if (found == object.end() && !needed) return std::string();
  if (found == object.end() || !found->is_string() || found->get_ref<const std::string&>().size() > longest)
    return wrong(key, fmt::format("a text of at most {} bytes", longest));
  std::string text(trim(found->get_ref<const std::string&>()));
  if (printable(text) != text) return wrong(key, "plain text: it has control or hidden characters");
  if (needed && text.empty()) return wrong(key, "a text: it is empty");
  return text;
}

Result<std::vector<std::string>> list_of(const Json& object, const char* key, std::size_t most, std::size_t longest) {
  std::vector<std::string> list;
  const auto found = object.find(key);
  if (found == object.end()) return list;
  const std::string wanted = fmt::format("a list of at most {} lines of at most {} bytes", most, longest);
  if (!found->is_array() || found->size() > most) return wrong(key, wanted);
  for (const Json& item : *found) {
    const auto* text = item.get_ptr<const std::string*>();
    if (text == nullptr || text->size() > longest || printable(*text) != *text || text->find('\n') != std::string::npos)
      return wrong(key, wanted);
    list.push_back(*text);
  }
  return list;
}

Status known_keys(const Json& object, const std::vector<std::string>& known) {
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      return fail(Errc::invalid_input, fmt::format("unknown key '{}'{}; choose one of: {}", printable(key),
                                                   did_you_mean(key, known), join(known, ", ")));
  return {};
}

Result<Json> table_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return Json::object();
  if (!found->is_object()) return wrong(key, "a table");
  return *found;
}

Result<Hint> hint_from(const Json& item) {
  if (!item.is_object()) return wrong("hint", "a table");
  KERF_TRY_VOID(known_keys(item, {"operators", "family", "variant", "parameters"}));
  Hint hint;
  KERF_TRY(hint.family, text_of(item, "family", kLongestTag, true));
  KERF_TRY(hint.variant, text_of(item, "variant", kLongestTag, true));
  KERF_TRY(hint.operators, list_of(item, "operators", 64, kLongestTag));
  std::sort(hint.operators.begin(), hint.operators.end());
  if (item.contains("parameters")) {
    KERF_TRY(hint.parameters, memory::limited_bindings(nlohmann::json(item), "parameters"));
  }
  return hint;
}

Result<Evidence> evidence_from(const Json& item) {
  const nlohmann::json plain(item);
  Evidence one;
  if (!item.is_object() || !item.contains("admitted") || !item["admitted"].is_boolean())
    return wrong("evidence", "a list of trials with 'admitted'");
  one.admitted = item["admitted"].get<bool>();
  one.imported = item.value("imported", Json(false)) == Json(true);
  one.clear = item.value("clear", Json(false)) == Json(true);
  KERF_TRY(one.reason, text_of(item, "reason", kLongestReason));
  KERF_TRY(one.tasks, list_of(item, "tasks", kMostPlaces, 200));
  KERF_TRY(one.unrelated, text_of(item, "unrelated", 200));
  KERF_TRY(one.target, text_of(item, "target", kLongestTag));
  KERF_TRY(one.device, text_of(item, "device", 200));
  KERF_TRY(one.mind, text_of(item, "mind", 200));
  KERF_TRY(one.settings, list_of(item, "settings", 64, 200));
  KERF_TRY(one.kerf_version, text_of(item, "kerf_version", kLongestTag));
  KERF_TRY(const double samples, limited_number(plain, "samples", 0, 1e6));
  one.samples = static_cast<int>(samples);
  KERF_TRY(const double recorded, limited_number(plain, "recorded_ms", 0, 1e15));
  one.recorded_ms = static_cast<std::int64_t>(recorded);
  const std::pair<const char*, double*> effects[] = {{"effect", &one.effect},
                                                     {"low", &one.low},
                                                     {"high", &one.high},
                                                     {"over_placebo", &one.over_placebo},
                                                     {"placebo_low", &one.placebo_low},
                                                     {"placebo_high", &one.placebo_high},
                                                     {"elsewhere", &one.elsewhere},
                                                     {"elsewhere_low", &one.elsewhere_low},
                                                     {"elsewhere_high", &one.elsewhere_high}};
  for (const auto& [key, place] : effects) {
    KERF_TRY(*place, limited_number(plain, key, -20, 20));
  }
  KERF_TRY(one.right_with, limited_number(plain, "right_with", 0, 1));
  KERF_TRY(one.right_without, limited_number(plain, "right_without", 0, 1));
  return one;
}

Json to_json_value(const Evidence& one) {
  return {{"admitted", one.admitted},
          {"reason", one.reason},
          {"tasks", one.tasks},
          {"unrelated", one.unrelated},
          {"samples", one.samples},
          {"effect", one.effect},
          {"low", one.low},
          {"high", one.high},
          {"over_placebo", one.over_placebo},
          {"placebo_low", one.placebo_low},
          {"placebo_high", one.placebo_high},
          {"elsewhere", one.elsewhere},
          {"elsewhere_low", one.elsewhere_low},
          {"elsewhere_high", one.elsewhere_high},
          {"right_with", one.right_with},
          {"right_without", one.right_without},
          {"target", one.target},
          {"device", one.device},
          {"mind", one.mind},
          {"settings", one.settings},
          {"kerf_version", one.kerf_version},
          {"recorded_ms", one.recorded_ms},
          {"imported", one.imported},
          {"clear", one.clear}};
}

Result<std::string> name_from(const Json& object) {
  KERF_TRY(std::string name, text_of(object, "name", kLongestName, true));
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  if (!plain || name.front() == '-') return wrong("name", "made of lower-case letters, digits and hyphens");
  return name;
}

/// What files and records have in common.
Result<Skill> content_from(const Json& object) {
  Skill skill;
  KERF_TRY(skill.name, name_from(object));
  KERF_TRY(skill.description, text_of(object, "description", kLongestDescription, true));
  KERF_TRY(skill.tags, list_of(object, "tags", kMostTags, kLongestTag));
  KERF_TRY(skill.preconditions, list_of(object, "preconditions", kMostConditions, kLongestCondition));
  KERF_TRY(skill.parents, list_of(object, "parents", kMostParents, kLongestTag));
  if (object.contains("version")) {
    KERF_TRY(const double version, limited_number(nlohmann::json(object), "version", 1, 1e6));
    skill.version = static_cast<int>(version);
  }
  KERF_TRY(const Json scope, table_of(object, "scope"));
  KERF_TRY_VOID(known_keys(scope, {"targets", "families"}));
  KERF_TRY(skill.scope.targets, list_of(scope, "targets", kMostPlaces, kLongestTag));
  KERF_TRY(skill.scope.families, list_of(scope, "families", kMostPlaces, kLongestTag));
  KERF_TRY(const Json body, table_of(object, "body"));
  KERF_TRY_VOID(known_keys(body, {"motivation", "key_idea", "example"}));
  KERF_TRY(skill.motivation, text_of(body, "motivation", kLongestMotivation));
  KERF_TRY(skill.key_idea, text_of(body, "key_idea", kLongestIdea));
  KERF_TRY(skill.example, text_of(body, "example", kLongestExample));
  if (const auto hints = object.find("hint"); hints != object.end()) {
    if (!hints->is_array() || hints->size() > kMostHints)
      return wrong("hint", fmt::format("a list of at most {} tables", kMostHints));
    for (const Json& item : *hints) {
      KERF_TRY(Hint hint, hint_from(item));
      skill.hints.push_back(std::move(hint));
    }
  }
  if (skill.key_idea.empty() && skill.hints.empty())
    return fail(Errc::invalid_input, "a skill needs body.key_idea or a [[hint]]: there is nothing to act on");
  skill.id = skill_id(skill);
  return skill;
}

Json content_json(const Skill& skill) {
  Json json{{"name", skill.name},
            {"description", skill.description},
            {"tags", skill.tags},
            {"preconditions", skill.preconditions},
            {"parents", skill.parents},
            {"version", skill.version},
            {"scope", {{"targets", skill.scope.targets}, {"families", skill.scope.families}}},
            {"body", {{"motivation", skill.motivation}, {"key_idea", skill.key_idea}, {"example", skill.example}}},
            {"hint", Json::array()}};
  for (const Hint& hint : skill.hints) {
    Json parameters = Json::object();
    for (const auto& [name, value] : hint.parameters) parameters[name] = value;
    json["hint"].push_back({{"operators", hint.operators},
                            {"family", hint.family},
                            {"variant", hint.variant},
                            {"parameters", std::move(parameters)}});
  }
  return json;
}

/// Dates and times become null, which no key takes. The parser limits how deep it can be.
Json from_toml_node(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) object[std::string(key.str())] = from_toml_node(value);
    return object;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& value : *array) list.push_back(from_toml_node(value));
    return list;
  }
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag;
  if (const auto number = node.value_exact<std::int64_t>()) return *number;
  if (const auto number = node.value_exact<double>()) return *number;
  return nullptr;
}

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Result<Skill> skill_from_toml(std::string_view text, const std::string& where) {
  const auto named = [&](const std::string& words) { return fail(Errc::invalid_input, where + ": " + words); };
  if (text.size() > kLongestSkill) return named(fmt::format("it has more than {} bytes", kLongestSkill));
  if (const auto found = toml_fault(text)) return named(fmt::format("{} (byte {})", found->what, found->at));
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    return fail(Errc::invalid_input, fmt::format("{}:{}: {}", where, parsed.error().source().begin.line,
                                                 printable(parsed.error().description())));
  const Json json = from_toml_node(parsed.table());
  const Status known =
      known_keys(json, {"name", "description", "tags", "preconditions", "parents", "version", "scope", "body", "hint"});
  if (!known) return named(known.error().message);
  auto skill = content_from(json);
  if (!skill) return named(skill.error().message);
  skill->origin = "file";
  return skill;
}

std::string to_toml(const Skill& skill) {
  // A JSON text, list of texts or number is TOML as well.
  const auto value = [](const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); };
  std::string text = fmt::format(
      "name = {}\ndescription = {}\ntags = {}\npreconditions = {}\nparents = {}\nversion = {}\n", value(skill.name),
      value(skill.description), value(skill.tags), value(skill.preconditions), value(skill.parents), skill.version);
  text +=
      fmt::format("\n[scope]\ntargets = {}\nfamilies = {}\n", value(skill.scope.targets), value(skill.scope.families));
  text += fmt::format("\n[body]\nmotivation = {}\nkey_idea = {}\nexample = {}\n", value(skill.motivation),
                      value(skill.key_idea), value(skill.example));
  for (const Hint& hint : skill.hints) {
    std::vector<std::string> parameters;
    for (const auto& [name, number] : hint.parameters)
      parameters.push_back(fmt::format("{} = {}", value(name), number));
    text += fmt::format("\n[[hint]]\noperators = {}\nfamily = {}\nvariant = {}\nparameters = {{ {} }}\n",
                        value(hint.operators), value(hint.family), value(hint.variant), join(parameters, ", "));
  }
  return text;
}

std::string to_json(const Skill& skill) {
  Json json = content_json(skill);
  json["id"] = skill.id;
  json["state"] = state_name(skill.state);
  json["origin"] = skill.origin;
  json["recorded_ms"] = skill.recorded_ms;
  json["uses"] = {{"count", skill.uses.count}, {"mean", skill.uses.mean}};
  json["evidence"] = Json::array();
  for (const Evidence& one : skill.evidence) json["evidence"].push_back(to_json_value(one));
  return dumped(json);
}

Result<Skill> skill_from_json(std::string_view line) {
  if (line.size() > kLongestSkill) return fail(Errc::invalid_input, "the record is too long");
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return fail(Errc::invalid_input, "the record is not a JSON object");
  KERF_TRY(Skill skill, content_from(json));
  const nlohmann::json plain(json);
  KERF_TRY(const std::string id, memory::limited_text(plain, "id", kLongestTag));
  if (id != skill.id) return fail(Errc::invalid_input, "'id' is not that of the content");
  KERF_TRY(const std::string state, memory::limited_text(plain, "state", kLongestTag));
  KERF_TRY(skill.state, state_from_name(state));
  KERF_TRY(skill.origin, text_of(json, "origin", 200));
  KERF_TRY(const double recorded, limited_number(plain, "recorded_ms", 0, 1e15));
  skill.recorded_ms = static_cast<std::int64_t>(recorded);
  KERF_TRY(const Json uses, table_of(json, "uses"));
  KERF_TRY(skill.uses.count, limited_number(nlohmann::json(uses), "count", 0, 1e9));
  KERF_TRY(skill.uses.mean, limited_number(nlohmann::json(uses), "mean", -20, 20));
  if (const auto list = json.find("evidence"); list != json.end()) {
    if (!list->is_array() || list->size() > kMostEvidence)
      return wrong("evidence", fmt::format("a list of at most {} trials", kMostEvidence));
    for (const Json& item : *list) {
      KERF_TRY(Evidence one, evidence_from(item));
      skill.evidence.push_back(std::move(one));
    }
  }
  return skill;
}

std::string to_lines(const std::vector<Skill>& skills) {
  std::string text = dumped({{"kind", kLinesKind}, {"schema", 1}}) + "\n";
  for (const Skill& skill : skills) text += to_json(skill) + "\n";
  return text;
}

Result<ReadSkills> skills_from_lines(std::string_view text) {
  ReadSkills read;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (number == 1) {
      const Json head = Json::parse(line.substr(0, 1000), nullptr, false);
      if (!head.is_object() || head.value("kind", Json()) != Json(kLinesKind) ||
          head.value("schema", Json()) != Json(1))
        return fail(Errc::invalid_input, "not an export of skills: the first line is not its head");
      continue;
    }
    if (trim(line).empty()) continue;
    auto skill = skill_from_json(line);
    if (!skill) {
      read.skipped.push_back(fmt::format("line {}: {}", number, skill.error().message));
      continue;
    }
    skill->state = State::candidate;
    skill->uses = {};
    for (Evidence& one : skill->evidence) one.imported = true;
    read.skills.push_back(*std::move(skill));
  }
  return read;
}

Result<std::vector<Skill>> with_shipped_evidence(std::vector<Skill> seeds, std::string_view exported) {
  KERF_TRY(const ReadSkills read, skills_from_lines(exported));
  for (Skill& seed : seeds)
    for (const Skill& tried : read.skills) {
      if (tried.id != seed.id || tried.evidence.empty()) continue;
      seed.evidence = tried.evidence;
      if (seed.evidence.back().admitted) seed.state = State::verified;
    }
  return seeds;
}

const std::vector<Skill>& seed_skills() {
  static const std::vector<Skill> seeds = [] {
    std::vector<Skill> list;
    std::string_view evidence;
    for (const auto& [path, text] : embedded_files()) {
      if (path == "evidence.jsonl") evidence = text;
      if (!path.ends_with(".toml")) continue;
      auto skill = skill_from_toml(text, "skills/" + std::string(path));
      KERF_CHECK(skill.has_value(), "a skill of Kerf's own cannot be read");
      skill->origin = "kerf";
      list.push_back(*std::move(skill));
    }
    auto tried = with_shipped_evidence(std::move(list), evidence);
    KERF_CHECK(tried.has_value(), "the evidence for Kerf's own skills cannot be read");
    return *std::move(tried);
  }();
  return seeds;
}

}  // namespace kerf::skill
