#include "app/cli/run_config.hpp"

#include <fmt/format.h>

#include <charconv>
#include <ctime>
#include <nlohmann/json.hpp>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "app/cli/run_commands.hpp"
#include "base/file.hpp"
#include "base/rng.hpp"
#include "base/version.hpp"
#include "search/policy.hpp"
#include "store/find_run.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

/// Text of every file the task names, by the path it writes.
std::map<std::string, std::string> files_of(const Task& task) {
  std::map<std::string, std::string> files;
  if (task.cpp) files[task.cpp->path] = task.cpp->source;
  for (const BaselineSpec& baseline : task.baselines) files[baseline.path] = baseline.source;
  return files;
}

/// The command's options over what the configuration says.
Status overlay(const OptimizeOptions& options, RunConfig& config) {
  if (options.evaluations) config.search.evaluations = *options.evaluations;
  if (options.seconds) {
    config.search.seconds = *options.seconds;
    if (!options.evaluations && options.resume.empty()) config.search.evaluations = 0;  // time alone limits it
  }
  if (!options.search.empty()) config.search.search = options.search;
  if (!options.device.empty()) config.device = options.device;
  KERF_TRY(const Settings settings, parse_settings(options.set));
  if (!settings.tunables.empty())
    return fail(Errc::invalid_input,
                fmt::format("--set {}: a search chooses tunables itself; settings have a dot: search.patience=100",
                            settings.tunables.begin()->first));
  KERF_TRY_VOID(make_policy(config.search.search));  // known by name?
  return apply_settings(settings, config.judge, &config.search);
}

Result<fs::path> new_folder(const OptimizeOptions& options, const std::string& task, const std::string& target,
                            std::int64_t wall_ms) {
  if (!options.out.empty()) return fs::path(options.out);
  const auto seconds = static_cast<std::time_t>(wall_ms / 1000);
  std::tm parts{};
  char time[32];
  ::gmtime_r(&seconds, &parts);
  std::strftime(time, sizeof time, "%Y%m%d-%H%M%S", &parts);
  const fs::path base = fs::path(kRunsFolder) / fmt::format("{}-{}-{}", task, target, time);
  fs::path folder = base;
  std::error_code error;
  for (int i = 2; fs::exists(folder, error); ++i) folder = base.string() + fmt::format("-{}", i);
  return folder;
}

Result<Run> start_run(const OptimizeOptions& options, std::int64_t wall_ms, std::uint64_t fresh_seed) {
  Run run;
  if (!options.target.empty()) run.config.target = options.target;
  KERF_TRY_VOID(check_target_name(run.config.target));
  KERF_TRY(run.task, load_checked_task(options.task));
  KERF_TRY(const std::string source, read_file(options.task));
  run.config.search.seed = options.seed ? *options.seed : fresh_seed;
  KERF_TRY_VOID(overlay(options, run.config));
  KERF_TRY(const fs::path folder, new_folder(options, run.task.name, run.config.target, wall_ms));
  KERF_TRY(run.store, create_run_store(folder));
  const std::string config = to_toml(run.config, run.task.name);
  KERF_TRY_VOID(write_file_atomic(folder / "run.toml", config));
  KERF_TRY_VOID(run.store->set("task", run.task.name));
  std::error_code error;
  KERF_TRY_VOID(run.store->set("task_path", fs::absolute(options.task, error).string()));
  if (const auto files = files_of(run.task); !files.empty()) {
    KERF_TRY_VOID(run.store->set("task_files", nlohmann::json(files).dump()));
  }
  KERF_TRY_VOID(run.store->set("target", run.config.target));
  KERF_TRY_VOID(run.store->set("seed", std::to_string(run.config.search.seed)));
  KERF_TRY_VOID(run.store->set("search", run.config.search.search));
  KERF_TRY_VOID(run.store->set("kerf_version", kKerfVersion));
  KERF_TRY_VOID(run.store->set("config", config));
  KERF_TRY_VOID(run.store->set("task_source", source));  // last: a run without it never started
  KERF_TRY_VOID(run.store->note("started", {{"task", run.task.name}, {"target", run.config.target}}));
  return run;
}

/// The task as it was when the run began, whatever became of its file since.
Result<Task> stored_task(const RunStore& store) {
  KERF_TRY(const auto source, store.get("task_source"));
  KERF_TRY(const auto path, store.get("task_path"));
  if (!source || !path)
    return fail(Errc::invalid_input, store.folder().string() + " was interrupted before it began; start it afresh");
  const fs::path file(*path);
  KERF_TRY(const auto files, store.get("task_files"));
  if (!files) return parse_task(*source, file.parent_path(), file.string());
  // Files that the task names are put beside a copy of it.
  const fs::path folder = store.folder() / "task";
  const auto json = nlohmann::json::parse(*files, nullptr, false);
  if (!json.is_object()) return fail(Errc::io, store.folder().string() + ": 'task_files' cannot be read");
  for (const auto& [name, text] : json.items()) {
    const fs::path relative = fs::path(name).lexically_normal();
    if (relative.is_absolute() || relative.string().starts_with(".."))
      return parse_task(*source, file.parent_path(), file.string());
    KERF_TRY_VOID(write_file_atomic(folder / relative, text.get<std::string>()));
  }
  return parse_task(*source, folder, file.string());
}

Result<Run> resume_run(const OptimizeOptions& options) {
  if (!options.out.empty())
    return fail(Errc::invalid_input, "--out starts a new run; --resume goes on in the folder of the old one");
  if (options.seed) return fail(Errc::invalid_input, "--seed belongs to a new run; a resumed one keeps its own");
  Run run;
  run.resumed = true;
  KERF_TRY(const fs::path folder, find_run(options.resume, kRunsFolder));
  KERF_TRY(run.store, open_run_store(folder, RunStore::Access::write));
  KERF_TRY(run.task, stored_task(*run.store));
  KERF_TRY(const auto config, run.store->get("config"));
  if (!config) return fail(Errc::invalid_input, folder.string() + " has no configuration; start it afresh");
  KERF_TRY(run.config, config_from_toml(*config));
  if (!options.task.empty()) {
    KERF_TRY(const Task asked, load_checked_task(options.task));
    if (asked.id != run.task.id)
      return fail(Errc::invalid_input,
                  fmt::format("{} is a run of another task ('{}', or an earlier text of it); leave TASK out",
                              folder.string(), run.task.name));
  }
  if (!options.target.empty() && options.target != run.config.target)
    return fail(Errc::invalid_input, fmt::format("{} is a run for target '{}', not '{}'", folder.string(),
                                                 run.config.target, options.target));
  KERF_TRY_VOID(overlay(options, run.config));
  const std::string text = to_toml(run.config, run.task.name);
  if (text != *config) {
    KERF_TRY_VOID(run.store->set("config", text));
    KERF_TRY_VOID(write_file_atomic(folder / "run.toml", text));
  }
  KERF_TRY_VOID(run.store->note("resumed", {}));
  return run;
}

}  // namespace

std::string to_toml(const RunConfig& config, const std::string& task) {
  std::string text = fmt::format(
      "# How this run was started; 'kerf optimize --resume' reads it from the run's database.\n"
      "task = {}\ntarget = {}\ndevice = {}\nmethod = {}\nseed = \"{}\"\nevaluations = {}\nseconds = {}\n",
      quoted(task), quoted(config.target), quoted(config.device), quoted(config.search.search), config.search.seed,
      config.search.evaluations, config.search.seconds);
  std::string section;
  for (const auto& [name, value] : effective_settings(config.judge, config.search)) {
    const auto dot = name.find('.');
    if (name.substr(0, dot) != section) {
      section = name.substr(0, dot);
      text += fmt::format("\n[{}]\n", section);
    }
    text += fmt::format("{} = {}\n", name.substr(dot + 1), value);
  }
  return text;
}

Result<RunConfig> config_from_toml(const std::string& text) {
  RunConfig config;
  Settings settings;
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
  for (const auto& [section, node] : table)
    if (const toml::table* values = node.as_table())
      for (const auto& [key, value] : *values)
        settings.options.emplace_back(fmt::format("{}.{}", std::string_view(section), std::string_view(key)),
                                      fmt::format("{}", value.value_or(0.0)));
  KERF_TRY_VOID(apply_settings(settings, config.judge, &config.search));
  return config;
}

Result<Run> open_run(const OptimizeOptions& options, std::int64_t wall_ms, std::uint64_t fresh_seed) {
  if (!options.resume.empty()) return resume_run(options);
  if (options.task.empty())
    return fail(Errc::invalid_input, "give a TASK to optimize, or --resume a run; see kerf optimize --help");
  return start_run(options, wall_ms, fresh_seed);
}

}  // namespace kerf::cli
