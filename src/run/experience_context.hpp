#pragma once
// Experiences in the questions to language models and agent programs: chosen per question, credited from verdicts.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "memory/lessons.hpp"
#include "memory/memory_store.hpp"
#include "memory/shown.hpp"
#include "propose/agents/context.hpp"

namespace kerf {

/// Works on copies of what the memory had when the run began and learns within the run as it goes; the memory itself
/// learns from the run's steps when it ends (memory::lessons_of). Thread-safe.
class ExperienceContext {
 public:
  /// `fence`: language of code blocks. Experiences of `run` itself are left out: its own kernels are shown anyway.
  static Result<std::unique_ptr<ExperienceContext>> open(const MemoryStore& store, memory::TaskSignature task,
                                                         const memory::ShownOptions& options, const std::string& run,
                                                         std::string fence, std::vector<std::string>& skipped);

  /// Refining where the request has a parent, drafting otherwise. May choose none.
  std::vector<agents::ContextItem> select(const ProposalRequest& request) const;

  /// Steps of the run in order, earlier ones of a resumed run too.
  void observe(const Step& step);

  std::size_t size() const { return pool_.size(); }
  /// JSON: task by id, of all that may be shown; kept with the run for people.
  std::string tasks_text() const;

 private:
  ExperienceContext(memory::TaskSignature task, memory::ShownOptions options, std::string fence)
      : task_(std::move(task)), options_(options), fence_(std::move(fence)), rewards_(options.rule) {}
  agents::ContextItem item_of(const memory::Pooled& one) const;

  const memory::TaskSignature task_;
  const memory::ShownOptions options_;
  const std::string fence_;
  mutable std::mutex mutex_;
  std::vector<memory::Pooled> pool_;  // guarded by mutex_, as all below
  memory::StepRewards rewards_;
  std::map<memory::ValueStage, memory::Moments> seen_;  // rewards of this run
};

}  // namespace kerf
