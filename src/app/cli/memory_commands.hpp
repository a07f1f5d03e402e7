#pragma once
// The commands that look after experience: memory and its parts, campaign.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/embedding_option.hpp"
#include "app/cli/environment.hpp"
#include "app/cli/mind_options.hpp"
#include "base/result.hpp"

namespace kerf::cli {

struct MemoryOptions {
  std::string memory;                ///< the file; "": the user's own
  std::string action;                ///< stats, search, show, export or import
  std::string what;                  ///< a task file, an experience, or the file to write or read
  std::string target;                ///< of search; "": cpu
  std::vector<std::string> without;  ///< tasks that are left out by export and import
  int top = 10;                      ///< rows of search
  bool source = false;               ///< show prints the kernel's text too
  bool json = false;
};
Status memory_command(const MemoryOptions& options, const Environment& environment, Console& console);

struct CampaignOptions {
  std::vector<std::string> tasks;
  std::string target, device;
  std::string memory;              ///< the file; "": the user's own; "off"
  std::string memory_rule;         ///< "": kerf
  std::string skills;              ///< "": verified
  std::string out;                 ///< folder of the runs; "": runs/campaign-<time>
  std::optional<int> evaluations;  ///< per task
  std::optional<double> seconds;   ///< of all searches together
  MindOptions minds{};
  std::optional<int> recheck;         ///< most evaluations for trying skills again; none: a fifth of the campaign's
  int rounds = 2;                     ///< in which each task gets its share of them
  std::optional<std::uint64_t> seed;  ///< none: drawn afresh
  std::vector<std::string> set;
  EmbeddingOptions embedding{};
  bool json = false;
  int jobs = 0;
};
Status campaign(const CampaignOptions& options, const Environment& environment, Console& console);

}  // namespace kerf::cli
