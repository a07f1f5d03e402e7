#pragma once
// The minds of a run, put together: the builtin one, language models, agent programs, and kernels of the user's own.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "llm/record.hpp"
#include "llm/secret.hpp"
#include "memory/retrieve.hpp"
#include "model/candidate.hpp"
#include "propose/agents/agent_task.hpp"
#include "propose/agents/context.hpp"
#include "propose/agents/select.hpp"
#include "propose/proposer.hpp"
#include "propose/synth/synthesiser.hpp"
#include "run/mind_config.hpp"
#include "run/prompts.hpp"
#include "run/run_task.hpp"
#include "run/target_session.hpp"

namespace kerf {

/// What minds need from outside and no run keeps.
struct MindAccess {
  llm::Secret key;                                 ///< of models without one of their own
  std::map<std::string, llm::Secret> keys;         ///< by model
  std::filesystem::path record_chats;              ///< conversations are appended to this file; empty: none
  std::filesystem::path replay_chats;              ///< models answer from this file alone; empty: none
  std::map<std::string, std::string> environment;  ///< of agent programs
  agents::SelectContext context{};                 ///< what models and programs are shown from memory; none without it
  agents::SkillOffer skills{};                     ///< what models may choose from
  std::string family{};  ///< operator family that skills of this run are for; "": none are written down
};

/// What the builtin mind works with, and what every search begins with.
struct BuiltinInputs {
  std::shared_ptr<synth::Synthesiser> synthesiser;  ///< of the task; null where the builtin mind is not asked
  memory::Recollection remembered{};                ///< what the memory has for the task, tried first
  std::vector<Proposal> hinted{};                   ///< kernels that skills ask for
};

/// What the models of a run were paid: by its steps, or as it was kept with the run (`Minds::spent_text`), which has
/// questions that came to nothing too.
llm::Usage spent_on_models(const std::vector<Step>& steps, const std::string& kept);

/// Everything in it stays where it is: minds borrow from it.
class Minds {
 public:
  /// `peaks`: folder of measured peaks; empty: none.
  static Result<std::unique_ptr<Minds>> open(const MindConfig& config, const MindAccess& access, const TaskText& task,
                                             std::vector<Candidate> own, const BuiltinInputs& builtin,
                                             TargetSession& session, const std::filesystem::path& peaks,
                                             std::uint64_t seed);
  std::vector<Proposer*> proposers() const;
  /// What earlier processes of the run spent counts too: `kept` is what they kept of `spent_text`, or "".
  void add_spent(const std::vector<Step>& steps, const std::string& kept);
  /// The variants of the prompt that the run begins with, and those that came about in it so far; to be called before
  /// the search begins.
  Status restore(const RunStore& run, std::vector<agents::PromptVariant> begun) {
    for (agents::PromptVariant& one : begun) prompts_.inherit(std::move(one));
    return restore_prompts(run, prompts_);
  }
  /// All that models were paid, questions that came to nothing included, as it is kept with the run; "" for nothing.
  std::string spent_text() const;

 private:
  friend struct MindMakers;
  explicit Minds(const MindConfig& config);
  Result<std::unique_ptr<Proposer>> llm_mind(const MindConfig& config, const MindAccess& access, agents::AgentTask task,
                                             Clock& clock, std::uint64_t seed);

  llm::Budget budget_;
  agents::PromptPopulation prompts_;
  std::unique_ptr<llm::HttpTransport> transport_;
  std::unique_ptr<llm::ChatRecorder> recorder_;
  std::unique_ptr<llm::ChatRecording> recording_;
  std::vector<std::unique_ptr<Proposer>> minds_;  // last: they borrow the others
};

/// What agents are told of the task on this target.
Result<agents::AgentTask> describe_for_agents(const TaskText& task, TargetSession& session,
                                              const std::filesystem::path& peaks);

}  // namespace kerf
