#include "app/cli/mind_options.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "llm/models_file.hpp"

namespace kerf::cli {
namespace {

constexpr const char* kUsualEndpoint = "https://api.openai.com/v1";
constexpr const char* kKeyVariable = "OPENAI_API_KEY";

Result<std::vector<llm::ModelSpec>> named_models(const MindOptions& options) {
  if (options.base_urls.size() > 1 && options.base_urls.size() != options.models.size())
    return fail(Errc::invalid_input, fmt::format("there are {} models and {} base URLs; give one for all or one each",
                                                 options.models.size(), options.base_urls.size()));
  std::vector<llm::ModelSpec> models;
  for (std::size_t i = 0; i < options.models.size(); ++i) {
    llm::ModelSpec model;
    model.name = options.models[i];
    model.base_url =
        options.base_urls.empty() ? kUsualEndpoint : options.base_urls[options.base_urls.size() == 1 ? 0 : i];
    if (options.context_tokens) {
      model.context_tokens = *options.context_tokens;
      model.max_reply_tokens = std::min(model.max_reply_tokens, model.context_tokens / 2);
    }
    models.push_back(std::move(model));
  }
  return models;
}

/// Options that only questions to models use.
std::string first_model_option(const MindOptions& options) {
  if (options.max_tokens) return "--max-tokens";
  if (options.max_cost) return "--max-cost";
  if (!options.record_chats.empty()) return "--record-chats";
  if (!options.replay_chats.empty()) return "--replay-chats";
  return "";
}

/// The command with its program's path made absolute, since it is started in a folder of its own. The shell reads it:
/// where the first word is more than a plain path, it is left as it is.
Result<std::string> with_found_program(const std::string& command) {
  namespace fs = std::filesystem;
  const std::size_t begin = command.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return fail(Errc::invalid_input, "--agent-command is empty; name a program");
  const std::size_t end = std::min(command.find_first_of(" \t\n", begin), command.size());
  const std::string program = command.substr(begin, end - begin);
  if (program.find_first_of("\"'$`\\;&|<>(){}*?[]~=#!") != std::string::npos) return command;
  std::error_code error;
  if (program.find('/') == std::string::npos) {
    if (program.find('.') != std::string::npos && fs::is_regular_file(program, error))
      return fail(
          Errc::invalid_input,
          fmt::format("--agent-command: the shell looks for '{0}' in PATH; for the file here say ./{0}", program));
    return command;
  }
  const fs::path path = fs::absolute(program, error).lexically_normal();
  if (!fs::is_regular_file(path, error))
    return fail(Errc::invalid_input, fmt::format("--agent-command: there is no program {}", path.string()));
  if (::access(path.c_str(), X_OK) != 0)
    return fail(Errc::invalid_input,
                fmt::format("--agent-command: {0} may not be executed; try chmod +x {0}", path.string()));
  std::string quoted = "'";
  for (const char c : path.string()) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'" + command.substr(end);
}

}  // namespace

Status overlay_minds(const MindOptions& options, MindConfig& minds) {
  if (!options.minds.empty()) {
    KERF_TRY(minds.names, parse_mind_names(options.minds));
    // A run that goes on with other minds: what the old ones needed is not asked for any more.
    if (!minds.has(kLlmMind)) minds.models.clear();
    if (!minds.has(kLlmMind)) minds.budget = {};
    if (!minds.has(kCommandMind)) minds.command.clear();
  }
  if (!options.models_file.empty()) {
    if (!options.models.empty() || !options.base_urls.empty() || options.context_tokens)
      return fail(Errc::invalid_input, "--models FILE says it all; leave --model, --base-url and --context out");
    KERF_TRY(const std::string text, read_file(options.models_file));
    KERF_TRY(minds.models, llm::parse_models(text, options.models_file));
  } else if (!options.models.empty()) {
    KERF_TRY(minds.models, named_models(options));
  } else if (!options.base_urls.empty() || options.context_tokens) {
    return fail(Errc::invalid_input, "--base-url and --context belong to a model: add --model NAME");
  }
  if (options.max_tokens) minds.budget.tokens = *options.max_tokens;
  if (options.max_cost) minds.budget.cost_usd = *options.max_cost;
  if (const std::string option = first_model_option(options); !option.empty() && !minds.has(kLlmMind))
    return fail(Errc::invalid_input,
                fmt::format("{} is about questions to models, which the llm mind asks only: add --mind llm or "
                            "--mind builtin,llm",
                            option));
  if (!options.agent_command.empty()) {
    KERF_TRY(minds.command, with_found_program(options.agent_command));
  }
  if (!options.knowledge.empty()) minds.knowledge = options.knowledge == "on";
  if (!options.prompts.empty()) minds.shared_prompts = options.prompts == "shared";
  if (!options.prompt_rule.empty()) {
    KERF_TRY(minds.prompt_rule, agents::prompt_rule_from_name(options.prompt_rule));
  }
  if (options.agent_seconds) minds.command_seconds = *options.agent_seconds;
  return check_minds(minds);
}

std::string chats_file(const MindOptions& options) {
  std::error_code error;  // of a current folder that is gone
  return std::filesystem::absolute(options.record_chats, error).string();
}

Result<MindAccess> mind_access(const MindOptions& options, const MindConfig& minds, const Environment& environment) {
  MindAccess access;
  access.record_chats = options.record_chats;
  access.replay_chats = options.replay_chats;
  access.environment = environment.whole;
  if (minds.models.empty()) return access;
  if (!options.key_file.empty()) {
    KERF_TRY(access.key, llm::Secret::from_file(options.key_file));
  } else if (const auto found = environment.whole.find(kKeyVariable);
             found != environment.whole.end() && !found->second.empty()) {
    KERF_TRY(access.key, llm::Secret::from_text(found->second, kKeyVariable));
  }
  for (const llm::ModelSpec& model : minds.models) {
    if (!model.key_file.empty()) {
      KERF_TRY(access.keys[model.name], llm::Secret::from_file(model.key_file));
    }
    const bool keyed = !access.key.empty() || !model.key_file.empty();
    if (!keyed && model.base_url == kUsualEndpoint && access.replay_chats.empty())
      return fail(Errc::invalid_input,
                  fmt::format("{} needs a key: set {} or give --key-file FILE; an endpoint of your own is "
                              "named with --base-url",
                              kUsualEndpoint, kKeyVariable));
  }
  return access;
}

}  // namespace kerf::cli
