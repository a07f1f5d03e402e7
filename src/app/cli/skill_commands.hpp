#pragma once
// The command that looks after skills.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/environment.hpp"
#include "app/cli/mind_options.hpp"
#include "base/result.hpp"

namespace kerf::cli {

struct SkillsOptions {
  std::string memory;              ///< the file; "": the user's own
  std::string action;              ///< list, search, show, add, verify, export or import
  std::vector<std::string> what;   ///< names, ids, words or files
  std::string target;              ///< of verify and search; "": that of the skill, or the default
  std::string device;              ///< of verify
  std::vector<std::string> tasks;  ///< of verify; none: samples of the skill's scope
  std::string unrelated;           ///< likewise, outside of its scope
  int samples = 12;                ///< an arm and task
  int evaluations = 6;             ///< of one sample
  std::vector<std::string> set;    ///< settings of the samples' searches
  MindOptions minds{};
  std::optional<std::uint64_t> seed;
  int jobs = 0;
  bool json = false;
};
Status skills_command(const SkillsOptions& options, const Environment& environment, Console& console);

}  // namespace kerf::cli
