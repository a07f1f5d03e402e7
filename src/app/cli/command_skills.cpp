#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "app/cli/commands.hpp"
#include "app/cli/memory_option.hpp"
#include "app/cli/output_path.hpp"
#include "app/cli/run_text.hpp"
#include "app/cli/skill_commands.hpp"
#include "app/cli/skill_trials.hpp"
#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "skill/search.hpp"
#include "skill/skill_file.hpp"

namespace kerf::cli {
namespace {

using skill::Skill;
using SkillJson = nlohmann::ordered_json;

void print_skill_json(const SkillJson& json, Console& console) {
  console.out << json.dump(-1, ' ', false, SkillJson::error_handler_t::replace) << std::endl;
}

std::string scope_words(const Skill& skill) {
  const auto words = [](const std::vector<std::string>& list) { return list.empty() ? "all" : join(list, ", "); };
  return one_line(fmt::format("{} / {}", words(skill.scope.targets), words(skill.scope.families)));
}

/// "1.12x (1.05 to 1.20)" by the newest trial on this machine, else by the newest of another one, which is said; or "".
std::string effect_words(const Skill& skill) {
  const auto words = [](const skill::Evidence& one) {
    return fmt::format("{:.2f}x ({:.2f} to {:.2f})", std::exp(one.effect), std::exp(one.low), std::exp(one.high));
  };
  for (auto one = skill.evidence.rbegin(); one != skill.evidence.rend(); ++one)
    if (!one->imported) return words(*one);
  return skill.evidence.empty() ? "" : words(skill.evidence.back()) + " elsewhere";
}

Colour state_colour(skill::State state) {
  return state == skill::State::verified    ? Colour::green
         : state == skill::State::candidate ? Colour::yellow
                                            : Colour::none;
}

SkillJson brief_skill(const Skill& skill) {
  SkillJson json{{"id", skill.id},
                 {"name", skill.name},
                 {"state", state_name(skill.state)},
                 {"description", skill.description},
                 {"targets", skill.scope.targets},
                 {"families", skill.scope.families},
                 {"origin", skill.origin},
                 {"uses", skill.uses.count},
                 {"expected_effect", posterior_effect(skill)},
                 {"effect", nullptr}};
  for (const skill::Evidence& one : skill.evidence)
    if (!one.imported) json["effect"] = {{"mean", one.effect}, {"low", one.low}, {"high", one.high}};
  return json;
}

Status list_skills(const std::vector<const Skill*>& list, bool as_json, Console& console) {
  if (as_json) {
    SkillJson json{{"schema", 1}, {"skills", SkillJson::array()}};
    for (const Skill* one : list) json["skills"].push_back(brief_skill(*one));
    print_skill_json(json, console);
    return {};
  }
  if (list.empty()) {
    console.out << "no skill was found; 'kerf skills list' shows all of them\n" << std::flush;
    return {};
  }
  std::vector<std::vector<Cell>> rows{
      {{"skill", {}, false, true}, {"state"}, folding("for"), {"effect"}, {"used", {}, true}, folding("what it says")}};
  for (const Skill* one : list)
    rows.push_back({{one->name, Colour::bold},
                    {std::string(state_name(one->state)), state_colour(one->state)},
                    {scope_words(*one)},
                    {effect_words(*one)},
                    {fmt::format("{:.0f}", one->uses.count), Colour::none, true},
                    {one_line(one->description)}});
  console.out << table(rows, console.out_style) << std::flush;
  return {};
}

Status list_all(const std::vector<Skill>& all, bool as_json, Console& console) {
  std::vector<const Skill*> list;
  for (const Skill& one : all) list.push_back(&one);
  KERF_TRY_VOID(list_skills(list, as_json, console));
  if (!as_json)
    console.out << remark("searches use verified skills; 'kerf skills verify NAME' tries one on this machine\n",
                          console.out_style)
                << remark(
                       "effect: speed with over speed without it, in its last trial; elsewhere: on another machine\n",
                       console.out_style)
                << std::flush;
  return {};
}

Status search_skills(const std::vector<Skill>& all, const SkillsOptions& options, Console& console) {
  std::vector<Skill> list;
  for (const Skill& one : all) {
    const auto& targets = one.scope.targets;
    if (options.target.empty() || targets.empty() ||
        std::find(targets.begin(), targets.end(), options.target) != targets.end())
      list.push_back(one);
  }
  std::vector<const Skill*> found;
  for (const skill::Found& one : skill::find_skills(list, join(options.what, " "), 20)) found.push_back(one.skill);
  return list_skills(found, options.json, console);
}

Result<Skill> find_one(const std::vector<Skill>& all, const std::string& what) {
  std::vector<const Skill*> found;
  std::vector<std::string> names;
  for (const Skill& one : all) {
    names.push_back(one.name);
    if (one.name == what || (what.size() >= 4 && one.id.starts_with(what))) found.push_back(&one);
  }
  if (found.size() == 1) return *found[0];
  if (found.empty())
    return fail(Errc::not_found, fmt::format("there is no skill '{}'{}; choose one of: {}", one_line(what),
                                             did_you_mean(what, names), join(names, ", ")));
  std::vector<std::string> ids;
  for (const Skill* one : found) ids.push_back(one->id);
  return fail(Errc::invalid_input, fmt::format("{} skills are named '{}'; choose one of: {}", found.size(),
                                               one_line(what), join(ids, ", ")));
}

void show_evidence(const skill::Evidence& one, Console& console) {
  const auto ratio = [](double mean, double low, double high) {
    return fmt::format("{:.3f}x ({:.3f} to {:.3f})", std::exp(mean), std::exp(low), std::exp(high));
  };
  console.out << fmt::format("trial     {}{}: {}\n", one.admitted ? "admitted" : "refused",
                             one.imported ? " on another machine" : "", one_line(one.reason))
              << fmt::format("            with / without     {}, {} pairs on {}\n",
                             ratio(one.effect, one.low, one.high), one.samples, one_line(join(one.tasks, ", ")))
              << fmt::format("            with / placebo     {}\n",
                             ratio(one.over_placebo, one.placebo_low, one.placebo_high))
              << fmt::format("            outside its scope  {} on {}\n",
                             ratio(one.elsewhere, one.elsewhere_low, one.elsewhere_high), one_line(one.unrelated))
              << fmt::format("            right kernels      {:.0f} % with, {:.0f} % without\n", 100 * one.right_with,
                             100 * one.right_without)
              << fmt::format("            {} on {}, mind {}{}, {}, kerf {}\n", one_line(one.target),
                             one_line(one.device), one_line(one.mind),
                             one.settings.empty() ? "" : one_line(", " + join(one.settings, ", ")),
                             format_utc(one.recorded_ms), one_line(one.kerf_version));
}

Status show_skill(const Skill& one, bool as_json, Console& console) {
  if (as_json) {
    SkillJson json = SkillJson::parse(skill::to_json(one));
    json["expected_effect"] = posterior_effect(one);
    print_skill_json(json, console);
    return {};
  }
  console.out << fmt::format("{} ({}, {}, version {})\n", one.name, one.id, state_name(one.state), one.version)
              << fmt::format("for       {}\n", scope_words(one)) << fmt::format("from      {}\n", one_line(one.origin));
  if (!one.tags.empty()) console.out << fmt::format("tags      {}\n", one_line(join(one.tags, ", ")));
  if (!one.parents.empty()) console.out << fmt::format("parents   {}\n", one_line(join(one.parents, ", ")));
  for (const skill::Hint& hint : one.hints) {
    std::string values;
    for (const auto& [name, value] : hint.parameters) values += fmt::format(" {}={}", name, value);
    console.out << fmt::format("hint      {}\n", one_line(fmt::format("{}/{}{}", hint.family, hint.variant, values)));
  }
  for (const skill::Evidence& trial : one.evidence) show_evidence(trial, console);
  if (one.evidence.empty())
    console.out << fmt::format("trial     none yet: 'kerf skills verify {}' makes one\n", one.name);
  if (one.uses.count > 0)
    console.out << fmt::format("uses      {:.0f}, on average {:.3f}x of what came without it\n", one.uses.count,
                               std::exp(one.uses.mean));
  console.out << fmt::format("expected  {:.3f}x\n\n", std::exp(posterior_effect(one))) << skill_text(one) << std::flush;
  return {};
}

Result<std::string> limited_file(const std::string& path, std::uintmax_t most) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) > most && !error)
    return fail(Errc::invalid_input, fmt::format("{} has more than {} bytes", path, most));
  return read_file(path);
}

SkillJson added_json(const std::string& file, const std::string& name, const skill::Added& added) {
  return {{"file", file},
          {"id", added.id},
          {"name", name},
          {"known", added.known},
          {"merged_with", added.merged_with},
          {"dropped", added.dropped}};
}

std::string added_words(const std::string& name, const skill::Added& added) {
  std::string words = added.known ? fmt::format("{} is known already", name)
                      : !added.merged_with.empty()
                          ? fmt::format("{} says nearly what {} says; they are one now", name, added.merged_with)
                          : fmt::format("{} is a candidate now; 'kerf skills verify {}' tries it", name, name);
  if (!added.dropped.empty()) words += fmt::format("; dropped to make room: {}", join(added.dropped, ", "));
  return words + "\n";
}

Status add_files(SkillStore& store, const SkillsOptions& options, Console& console) {
  SkillJson json{{"schema", 1}, {"added", SkillJson::array()}};
  for (const std::string& file : options.what) {
    KERF_TRY(const std::string text, limited_file(file, skill::kLongestSkill));
    KERF_TRY(Skill one, skill::skill_from_toml(text, file));
    const std::string name = one.name;
    one.recorded_ms = SystemClock().wall_ms();
    KERF_TRY(const skill::Added added, skill::add_skill(store, std::move(one)));
    json["added"].push_back(added_json(file, name, added));
    if (!options.json) console.out << added_words(name, added);
  }
  if (options.json) print_skill_json(json, console);
  console.out << std::flush;
  return {};
}

Status export_skills(const std::vector<Skill>& all, const SkillsOptions& options, const std::filesystem::path& memory,
                     Console& console) {
  const std::string text = skill::to_lines(all);
  if (options.what.empty() || options.what[0] == "-") {
    console.out << text << std::flush;
    return {};
  }
  KERF_TRY_VOID(write_output({options.what[0], OutputKind::skills, {memory}}, text));
  if (options.json)
    print_skill_json({{"schema", 1}, {"file", options.what[0]}, {"skills", all.size()}}, console);
  else
    console.out << fmt::format("{}: {} skills\n", options.what[0], all.size()) << std::flush;
  return {};
}

Status import_skills(SkillStore& store, const SkillsOptions& options, Console& console) {
  constexpr std::uintmax_t kLargestFile = 64u << 20;
  KERF_TRY(const std::string text, limited_file(options.what[0], kLargestFile));
  auto read = skill::skills_from_lines(text);
  if (!read) return fail(read.error().code, options.what[0] + ": " + read.error().message);
  std::size_t fresh = 0, known = 0;
  for (Skill& one : read->skills) {
    KERF_TRY(const skill::Added added, skill::add_skill(store, std::move(one)));
    ++(added.known || !added.merged_with.empty() ? known : fresh);
  }
  for (const std::string& line : read->skipped) console.err << fmt::format("left out: {}\n", one_line(line));
  if (options.json)
    print_skill_json(
        {{"schema", 1}, {"file", options.what[0]}, {"added", fresh}, {"known", known}, {"skipped", read->skipped}},
        console);
  else
    console.out << fmt::format("{} skills added as candidates, {} known, {} left out\n", fresh, known,
                               read->skipped.size())
                << std::flush;
  if (fresh + known > 0 || read->skipped.empty()) return {};
  return fail(Errc::tool_failed, fmt::format("nothing was added: every line of {} was refused", options.what[0]));
}

Status check_skill_action(const SkillsOptions& options) {
  const std::vector<std::string> actions{"list", "search", "show", "add", "verify", "export", "import"};
  if (std::find(actions.begin(), actions.end(), options.action) == actions.end())
    return fail(Errc::invalid_input, fmt::format("unknown action '{}'{}; choose one of: {}", options.action,
                                                 did_you_mean(options.action, actions), join(actions, ", ")));
  const std::map<std::string, std::string> needed{{"search", "words to look for"},
                                                  {"show", "the name of a skill"},
                                                  {"add", "a skill's .toml file"},
                                                  {"verify", "the name of a skill"},
                                                  {"import", "a file that 'kerf skills export' wrote"}};
  if (const auto what = needed.find(options.action); what != needed.end() && options.what.empty())
    return fail(Errc::invalid_input, fmt::format("kerf skills {} needs {}", options.action, what->second));
  const bool several = options.action == "search" || options.action == "add";
  if (!several && options.what.size() > 1)
    return fail(Errc::invalid_input, fmt::format("kerf skills {} takes one thing at a time", options.action));
  return {};
}

}  // namespace

Status skills_command(const SkillsOptions& options, const Environment& environment, Console& console) {
  KERF_TRY_VOID(check_skill_action(options));
  const auto file = memory_file(options.memory, environment);
  if (file.empty())
    return fail(
        Errc::invalid_input,
        "skills are kept in the memory, and there is none: give its file with --memory FILE (KERF_MEMORY may be "
        "'off')");
  KERF_TRY(const auto store, open_skill_store(file));
  std::vector<std::string> skipped;
  KERF_TRY(const std::vector<Skill> all, skill::all_skills(*store, skipped));
  for (const std::string& one : skipped) console.err << "left out: " << one_line(one) << "\n";
  if (options.action == "search") return search_skills(all, options, console);
  if (options.action == "add") return add_files(*store, options, console);
  if (options.action == "export") return export_skills(all, options, file, console);
  if (options.action == "import") return import_skills(*store, options, console);
  if (options.action == "list") return list_all(all, options.json, console);
  KERF_TRY(const Skill one, find_one(all, options.what[0]));
  if (options.action == "show") return show_skill(one, options.json, console);
  KERF_TRY(const Skill tried, try_and_keep(*store, one, options, environment, console));
  return show_skill(tried, options.json, console);
}

}  // namespace kerf::cli
