#pragma once
// One search after the other over many tasks that share one memory.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "memory/memory_store.hpp"
#include "model/event.hpp"
#include "run/optimize_task.hpp"
#include "run/skill_recheck.hpp"

namespace kerf {

struct CampaignRequest {
  std::vector<TaskText> tasks;     ///< their names differ
  RunConfig config;                ///< of every run; evaluations are per task, seeds are drawn from this one; seconds,
                                   ///< tokens and money are for all searches together
  bool own_seed = false;           ///< the seed was asked for: a campaign with another one does not go on
  int rounds = 2;                  ///< in round i of n every task is taken to i/n of its evaluations
  std::filesystem::path folder;    ///< of the campaign: one run per task, and campaign.json; one that is there goes on
  MindAccess access{};             ///< keys and files of the minds; never kept
  MemoryStore* memory = nullptr;   ///< borrowed; null: every task is on its own
  SkillStore* skills = nullptr;    ///< borrowed; null: no skills are used or written down
  PromptStore* prompts = nullptr;  ///< borrowed; null: every task begins with the prompts that Kerf comes with
  TextLikeness* likeness = nullptr;  ///< borrowed; null: what is alike is found by structure and words alone
  std::vector<TaskText> samples{};  ///< tasks that verified skills may be tried again on, besides those of the campaign
  int recheck = -1;                 ///< most evaluations for that; 0: none; -1: a fifth of the campaign's
};

/// One task of a campaign, so far.
struct CampaignEntry {
  std::string task;
  std::filesystem::path folder;
  int rounds_done = 0;
  std::string error;            ///< why its last round failed; ""
  std::optional<Speedup> best;  ///< none: nothing was measured
  Standing standing = Standing::untimed;
  std::string kernel;   ///< name of the best
  bool plain = false;   ///< the best is the plain kernel, which is not compared with itself
  std::string stopped;  ///< why its run ended before its evaluations were used up; ""
  int evaluations = 0;
  int remembered = 0;               ///< kernels that were tried because the memory has them
  bool best_is_remembered = false;  ///< the best kernel is one of them, or descends from one
  double seconds = 0;               ///< of its run, with finalists
  double searched = 0;              ///< of these, what counts as the campaign's time
  std::int64_t tokens = 0;          ///< of models
  double cost_usd = 0;
};

struct CampaignResult {
  std::vector<CampaignEntry> entries;  ///< in the order in which they are taken: easy ones first
  std::filesystem::path folder;
  std::uint64_t seed = 0;
  bool interrupted = false;
  std::optional<Recheck> recheck{};  ///< of verified skills; none: not yet, or there are no skills
};

/// Told from one thread.
class CampaignObserver {
 public:
  virtual ~CampaignObserver() = default;
  virtual void task_started(int round, std::size_t number, const CampaignEntry& entry) = 0;
  virtual RunObserver& run_observer() = 0;  ///< of the task that was started
  virtual void task_finished(int round, std::size_t number, const CampaignEntry& entry) = 0;
  virtual void skill_rechecked(const RecheckedSkill& skill) = 0;
};

/// What a campaign's file and `kerf campaign --json` say of a task; `run` is its folder's name in the former.
std::string to_json(const CampaignEntry& entry);

/// What the run of a task may have used in all when its turn ends: what it used, and an equal share, of the `turns`
/// that are left, of what all of them may still use. Nothing is left over in the end. 0: no limit.
struct CampaignShare {
  double seconds = 0;
  llm::BudgetLimits budget;
};
CampaignShare share_of(const RunConfig& limits, const std::vector<CampaignEntry>& entries, const CampaignEntry& own,
                       std::size_t turns);

/// Grows with the number and kind of a task's operators; tasks without an expression come last.
double difficulty(const Task& task);

/// Breadth first: every task gets its first share of evaluations before any gets its second, so that later rounds begin
/// with what all tasks taught. A task that fails is noted and the others go on; a campaign whose folder is there goes
/// on with what is missing, failed tasks included. At the end a few verified skills are tried again. Errors are about
/// the campaign itself: a folder of something else, or a task that none of the chosen minds can search (invalid_input),
/// before anything is begun.
Result<CampaignResult> run_campaign(const CampaignRequest& request, const TargetResources& resources,
                                    CampaignObserver& observer, const std::atomic<bool>& interrupted);

}  // namespace kerf
