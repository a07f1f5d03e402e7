#pragma once
// How a run was started: kept as run.toml in its folder, read again when it is resumed or looked at.

#include <string>

#include "base/result.hpp"
#include "judge/judge.hpp"
#include "llm/embeddings.hpp"
#include "memory/values.hpp"
#include "run/mind_config.hpp"
#include "run/run_skills.hpp"
#include "search/loop.hpp"
#include "target/target.hpp"

namespace kerf {

struct RunConfig {
  std::string target = default_target();
  std::string device;  ///< as given; "": the first
  JudgeOptions judge;
  SearchOptions search;
  MindConfig minds;
  memory::Rule memory_rule = memory::Rule::kerf;  ///< by which experiences are chosen and valued
  SkillRule skill_rule = SkillRule::verified;     ///< which skills may be used
  llm::EmbeddingSpec embedding{};                 ///< the model that helps to find what is alike; empty: none
  std::string memory;                             ///< as given: "off", or an absolute path; "": the user's own
  std::string record_chats;                       ///< absolute path that exchanges are appended to; "": none
};

std::string to_toml(const RunConfig& config, const std::string& task);
Result<RunConfig> config_from_toml(const std::string& text);

}  // namespace kerf
