#pragma once
// A whole run without a console: task and configuration in, a run folder and its best kernel out. For the command line,
// campaigns, servers and other languages.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "memory/memory_store.hpp"
#include "memory/prompt_store.hpp"
#include "model/candidate.hpp"
#include "model/event.hpp"
#include "run/minds.hpp"
#include "run/run_config.hpp"
#include "run/run_task.hpp"
#include "run/standing.hpp"
#include "run/text_likeness.hpp"
#include "search/loop.hpp"
#include "target/target.hpp"

namespace kerf {

struct OptimizeRequest {
  TaskText task;
  RunConfig config;
  std::filesystem::path folder;      ///< of the run; new, or one that is resumed
  bool resume = false;               ///< go on with the steps in the folder; task and kernels are then those of the run
  std::vector<Step> follow;          ///< a recorded run whose decisions are taken again; empty: none
  MindAccess access{};               ///< keys and files of the minds; never kept
  std::vector<Candidate> kernels;    ///< judged first, in this order; their `target` is the configuration's
  MemoryStore* memory = nullptr;     ///< borrowed: read at the beginning, added to at the end; null: neither
  std::string remembered;            ///< what the recorded or resumed run took from the memory, JSON; "": nothing
  bool remember_more = false;        ///< a run that is resumed looks into the memory once more
  SkillStore* skills = nullptr;      ///< borrowed: looked into at the beginning, added to at the end; null: neither
  PromptStore* prompts = nullptr;    ///< borrowed: variants of the prompt, likewise
  TextLikeness* likeness = nullptr;  ///< borrowed: helps to find what is alike; null: structure and words alone
  std::string begun{};               ///< variants that the recorded or resumed run began with, JSON; "": the seed alone
  std::string offered{};             ///< skills that the recorded or resumed run could use, JSON; "": none
  std::optional<agents::SkillOffer> trial{};  ///< an arm of a trial: these, and nothing is learned
};

struct OptimizeResult {
  std::filesystem::path folder;
  SearchResult search;
  std::optional<Step> best;                     ///< none: no kernel passed every gate
  Standing standing = Standing::untimed;        ///< of the best against the strongest baseline
  std::optional<std::filesystem::path> kernel;  ///< file of the best
  std::optional<std::filesystem::path> naive;   ///< file of the plain kernel, where nothing was faster than it
};

/// The observer's first event is a RunMark "started" or "resumed" with `task`, `target`, `device` and `folder`; nothing
/// is left behind when the run cannot be started. `resources` and `interrupted` are borrowed for the call; set
/// `interrupted` from anywhere to end the run after the kernel at hand, so that it can be resumed.
Result<OptimizeResult> optimize_task(const OptimizeRequest& request, const TargetResources& resources,
                                     RunObserver& observer, const std::atomic<bool>& interrupted);

/// A new run that takes the decisions of the recorded one again, on fresh timings: same task, configuration and seed.
/// Its `folder` is left to the caller.
Result<OptimizeRequest> replay_request(const std::filesystem::path& recorded);

/// A run as it can be resumed: its task and its configuration, which the caller may change.
Result<OptimizeRequest> stored_request(const std::filesystem::path& folder);

/// `runs`/<task>-<target>-<time in UTC>, with a number behind it when that exists.
std::filesystem::path new_run_folder(const std::filesystem::path& runs, const std::string& task,
                                     const std::string& target, std::int64_t wall_ms);

}  // namespace kerf
