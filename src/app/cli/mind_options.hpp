#pragma once
// The options by which minds are chosen, and what the environment adds to them: keys.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/environment.hpp"
#include "base/result.hpp"
#include "run/mind_config.hpp"
#include "run/minds.hpp"

namespace kerf::cli {

struct MindOptions {
  std::string minds;                   ///< "builtin,llm"; "": the default, or those of the run
  std::vector<std::string> models;     ///< names
  std::vector<std::string> base_urls;  ///< one for all of them, or one each
  std::string models_file;             ///< instead of `models`
  std::string key_file;                ///< "": OPENAI_API_KEY
  std::optional<double> max_cost;      ///< USD
  std::optional<std::int64_t> max_tokens, context_tokens;
  std::string agent_command;
  std::string prompt_rule;  ///< "": mean, or that of the run
  std::string prompts;      ///< "shared", "own"; "": shared, or as in the run
  std::string knowledge;    ///< "on", "off"; "": on, or as in the run
  std::optional<double> agent_seconds;
  std::string record_chats, replay_chats;  ///< files
};

/// The options over what the configuration says.
Status overlay_minds(const MindOptions& options, MindConfig& minds);

/// Where chats are recorded, as a path that holds from any folder.
std::string chats_file(const MindOptions& options);

/// Keys and files, which are not part of the configuration.
Result<MindAccess> mind_access(const MindOptions& options, const MindConfig& minds, const Environment& environment);

}  // namespace kerf::cli
