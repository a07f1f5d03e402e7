#include "run/experience_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/one_line.hpp"
#include "base/text.hpp"

namespace kerf {
namespace {

using memory::Experience;
using memory::ValueStage;

constexpr std::size_t kShownOperators = 12;

/// "map.exp, reduce.sum": the operators alone, each once.
std::string operators_text(const memory::TaskSignature& signature) {
  std::vector<std::string> names;
  for (const std::string& word : signature.words)
    if (names.size() < kShownOperators && word.find(' ') == std::string::npos && word.find('.') != std::string::npos &&
        std::find(names.begin(), names.end(), word) == names.end())
      names.push_back(word);
  return join(names, ", ");
}

}  // namespace

Result<std::unique_ptr<ExperienceContext>> ExperienceContext::open(const MemoryStore& store, memory::TaskSignature task,
                                                                   const memory::ShownOptions& options,
                                                                   const std::string& run, std::string fence,
                                                                   std::vector<std::string>& skipped) {
  KERF_TRY(auto known, store.experiences(task.target, skipped));
  std::erase_if(known, [&](const Experience& one) { return one.run == run; });
  std::unique_ptr<ExperienceContext> made(new ExperienceContext(std::move(task), options, std::move(fence)));
  made->pool_ = memory::shown_pool(made->task_, known, options);
  for (memory::Pooled& one : made->pool_) {
    KERF_TRY(one.experience.source, store.source(one.experience.id));
  }
  return made;
}

std::vector<agents::ContextItem> ExperienceContext::select(const ProposalRequest& request) const {
  const std::lock_guard lock(mutex_);
  const ValueStage stage = request.parent ? ValueStage::refine_shown : ValueStage::draft_shown;
  std::vector<agents::ContextItem> items;
  for (const std::size_t at :
       memory::choose_shown(pool_, stage, task_.family, options_, Rng(request.seed).fork("experiences")))
    items.push_back(item_of(pool_[at]));
  return items;
}

void ExperienceContext::observe(const Step& step) {
  const std::lock_guard lock(mutex_);
  const auto reward = rewards_.observe(step);
  if (!reward || !memory::was_written(step)) return;
  memory::Moments& seen = seen_[reward->stage];
  // Less what is usual in this run, so that nothing is praised for an easy task; as published, on the scale of the run.
  const double usual = options_.rule == memory::Rule::published ? 0 : seen.mean;
  const double scaled = memory::is_refining(reward->stage)
                            ? memory::scaled_reward(reward->value - usual, seen, options_.rule)
                            : reward->value - usual;
  for (const std::string& context : step.provenance.context) {
    if (!context.starts_with(memory::kContextPrefix)) continue;
    const std::string id = context.substr(memory::kContextPrefix.size());
    for (memory::Pooled& one : pool_)
      if (one.experience.id == id && !one.experience.frozen)
        memory::learn(one.experience.values[reward->stage], task_.family, scaled, options_.rule);
  }
  seen.add(reward->value);
}

std::string ExperienceContext::tasks_text() const {
  const std::lock_guard lock(mutex_);
  auto tasks = nlohmann::json::object();
  for (const memory::Pooled& one : pool_) tasks[one.experience.id] = one.experience.task;
  return tasks.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

agents::ContextItem ExperienceContext::item_of(const memory::Pooled& one) const {
  const Experience& experience = one.experience;
  agents::ContextItem item;
  item.id = std::string(memory::kContextPrefix) + experience.id;
  item.kind = "experience";
  const std::string about =
      fmt::format("task: {}\noperator family: {}\noperators: {}\n", one_line(experience.task),
                  one_line(experience.signature.family), one_line(operators_text(experience.signature)));
  const std::string made = memory::recipe_words(experience.recipe);
  if (experience.kind == memory::kFailureKind) {
    item.title = fmt::format("What went wrong before: a kernel for a task that is {:.0f} % like this one was refused",
                             100 * one.similarity);
    item.text =
        about + fmt::format("outcome: {} (check: {})\n{}\n", experience.outcome, experience.gate, experience.message);
  } else {
    item.title = fmt::format("A kernel that passed on a task that is {:.0f} % like this one", 100 * one.similarity);
    item.text = about + fmt::format("speed: {:.3g} times its baseline, {:.0f} % of the best kernel known there\n",
                                    experience.speedup, 100 * experience.share);
  }
  if (!made.empty()) item.text += fmt::format("made of: {}\n", one_line(made));
  if (!experience.source.empty()) item.text += fmt::format("```{}\n{}\n```\n", fence_, trim(experience.source));
  return item;
}

}  // namespace kerf
