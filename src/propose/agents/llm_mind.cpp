#include "propose/agents/llm_mind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "base/one_line.hpp"
#include "base/rng.hpp"
#include "llm/model_bandit.hpp"
#include "propose/agents/conversations.hpp"
#include "propose/agents/feedback.hpp"
#include "propose/agents/gains.hpp"
#include "propose/agents/prompt.hpp"
#include "propose/agents/prompt_evolution.hpp"
#include "propose/agents/reply.hpp"
#include "propose/agents/summary.hpp"
#include "skill/skill_file.hpp"

namespace kerf::agents {
namespace {

constexpr int kMostRepeats = 20;            // known kernels in a row, after which the models have no more to say
constexpr std::size_t kRecentResults = 12;  // shown to the one who edits prompts
constexpr std::size_t kLongestLine = 200;   // bytes of one of them
constexpr std::int64_t kEvolveTokens = 2048;
constexpr std::int64_t kSelectTokens = 512, kSummaryTokens = 2048;
constexpr int kSelectEvery = 8;  // questions that one choice of skills is for

/// The model answered, and what it said is no kernel: a step like any other, with the reason.
bool is_an_answer(llm::FailureKind kind) {
  using enum llm::FailureKind;
  return kind == malformed || kind == empty || kind == truncated || kind == too_large || kind == refused;
}

/// One line on what became of an answer, for the one who edits prompts.
std::string result_line(const Step& step, double gain) {
  const Outcome& outcome = step.evaluation.outcome;
  if (std::holds_alternative<Measurement>(outcome))
    return fmt::format("passed, {}, gain {:.0f} %", headline(step.evaluation), 100 * (std::exp(gain) - 1));
  const std::string message = outcome_message(outcome);
  return fmt::format("{} ({}): {}", outcome_name(outcome), outcome_gate(outcome),
                     one_line(message.substr(0, std::min<std::size_t>(message.find('\n'), kLongestLine))));
}

/// A question with everything that is needed to make something of its answer.
struct Asked {
  std::size_t model = 0;
  Prompt prompt;
  std::string base;  ///< kernel that edits apply to
  std::optional<std::int64_t> parent;
  std::vector<std::int64_t> parents;
  std::string change;
  int turns = 1;
  std::string variant;               ///< of the prompt
  std::vector<std::string> context;  ///< ids of what is shown from memory
};

class LlmMind final : public Proposer {
 public:
  LlmMind(AgentTask task, std::vector<EnsembleModel> models, const LlmTools& tools)
      : task_(std::move(task)), models_(std::move(models)), tools_(tools) {
    for (const EnsembleModel& one : models_) {
      names_.push_back(one.model->name());
      at_once_ += one.spec.rate.at_once;
      priced_ = priced_ || (one.spec.price && one.spec.price->of(1, 1) > 0);
    }
  }

  std::string_view name() const override { return kLlmMind; }
  std::vector<OperationInfo> operations() const override { return {{kStartOperation}, {"draft"}, {"refine", true}}; }
  int questions_at_once() const override { return at_once_; }
  void cancel() override { cancelled_ = true; }

  Spending spending() const override {
    const llm::Usage spent = tools_.budget.spent();
    const llm::BudgetLimits& limits = tools_.budget.limits();
    Spending now{spent.tokens(), limits.tokens, spent.cost_usd, limits.cost_usd, tools_.budget.used_up()};
    const std::lock_guard lock(mutex_);
    if (!now.used_up && repeats_ >= kMostRepeats)
      now.used_up = fmt::format("the models repeat themselves: {} known kernels in a row", repeats_);
    return now;
  }

  void observe(const Step& step) override {
    const std::lock_guard lock(mutex_);
    const auto gain = gains_.observe(step);
    if (step.proposer == kLlmMind) conversations_.became(step);
    if (auto improved = lineages_.observe(step)) improved_ = std::move(improved);
    if (step.proposer != kLlmMind || !gain) return;
    repeats_ = is_duplicate(step) ? repeats_ + 1 : 0;
    bandit_.observe(step.provenance.model, *gain, priced_ ? step.provenance.cost_usd : step.provenance.seconds);
    tools_.prompts.observe(prompt_variant(step.provenance.prompt), prompt_stage(step.provenance.prompt), *gain);
    recent_.push_back(result_line(step, *gain));
    if (recent_.size() > kRecentResults) recent_.pop_front();
  }

  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
    std::vector<Exchange> before = evolve(request);
    summarise(request, before);
    KERF_TRY(const Asked asked, question(request, before));
    const EnsembleModel& chosen = models_[asked.model];
    const llm::ChatRequest chat{asked.prompt.messages, reply_tokens(chosen.spec)};
    const llm::ChatOutcome outcome = chosen.model->ask(chat, cancelled_);
    if (const auto* failed = std::get_if<llm::ChatFailure>(&outcome);
        failed != nullptr && !is_an_answer(failed->kind)) {
      keep_unclaimed(std::move(before));
      const bool ended = failed->kind == llm::FailureKind::budget || failed->kind == llm::FailureKind::cancelled;
      if (ended) return std::optional<Proposal>{};
      return fail(Errc::unavailable, failed->message);
    }
    return std::optional(answered(asked, outcome, std::move(before)));
  }

 private:
  /// Of the model's context, half at most is for the answer.
  static std::int64_t reply_tokens(const llm::ModelSpec& spec) {
    return std::min(spec.max_reply_tokens, spec.context_tokens / 2);
  }
  static std::int64_t prompt_room(const llm::ModelSpec& spec) { return spec.context_tokens - reply_tokens(spec) - 64; }

  /// Asks for a new variant of the prompt when one is due. What was said is handed back, also where nothing came of it;
  /// with what questions without a proposal left behind.
  std::vector<Exchange> evolve(const ProposalRequest& request) {
    std::vector<Exchange> said;
    Asked asked;
    PromptVariant parent;
    std::vector<std::string> recent;
    {
      const std::lock_guard lock(mutex_);
      said = std::exchange(unclaimed_, {});
      if (!tools_.prompts.wants_child()) return said;
      Rng rng = Rng(request.seed).fork("evolve");
      parent = tools_.prompts.parent_for_child(rng);
      asked.model = bandit_.choose(names_, rng);
      recent.assign(recent_.begin(), recent_.end());
    }
    const EnsembleModel& chosen = models_[asked.model];
    auto prompt = evolve_prompt(parent, recent, {prompt_room(chosen.spec), nullptr, {}});
    if (!prompt) return said;
    asked.prompt = *std::move(prompt);
    const llm::ChatOutcome outcome =
        chosen.model->ask({asked.prompt.messages, std::min(reply_tokens(chosen.spec), kEvolveTokens)}, cancelled_);
    Exchange exchange = exchange_of(asked, outcome);
    exchange.role = "evolve";
    if (const auto* reply = std::get_if<llm::ChatReply>(&outcome)) {
      auto sections = evolved_sections(reply->text, parent);
      const std::string text = sections ? sections_text(*sections) : "";
      const std::lock_guard lock(mutex_);
      if (sections && tools_.prompts.add(parent.id, *std::move(sections))) exchange.result = text;
    }
    if (exchange.prompt_tokens + exchange.reply_tokens > 0) said.push_back(std::move(exchange));
    return said;
  }

  /// What was said before a question that came to nothing goes with the next proposal.
  void keep_unclaimed(std::vector<Exchange> said) {
    const std::lock_guard lock(mutex_);
    for (Exchange& one : said) unclaimed_.push_back(std::move(one));
  }

  std::size_t index_of(const std::string& model) const {
    return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), model) - names_.begin());
  }

  /// Asks a model for something else than a kernel; what was said is handed back, with the outcome.
  Exchange aside(const char* role, std::size_t model, Prompt prompt, std::int64_t tokens) {
    Asked asked;
    asked.model = model;
    asked.prompt = std::move(prompt);
    const EnsembleModel& chosen = models_[model];
    Exchange exchange = exchange_of(
        asked, chosen.model->ask({asked.prompt.messages, std::min(reply_tokens(chosen.spec), tokens)}, cancelled_));
    exchange.role = role;
    return exchange;
  }

  /// Has the latest line of kernels that became faster written down; run/ keeps what came of it as a candidate.
  void summarise(const ProposalRequest& request, std::vector<Exchange>& said) {
    std::optional<Improved> improved;
    std::size_t model = 0;
    {
      const std::lock_guard lock(mutex_);
      if (tools_.family.empty()) improved_.reset();
      improved = std::exchange(improved_, std::nullopt);
      if (!improved) return;
      Rng rng = Rng(request.seed).fork("summarise");
      model = bandit_.choose(names_, rng);
    }
    auto prompt = summary_prompt(task_, *improved, tools_.family, {prompt_room(models_[model].spec), nullptr, {}});
    if (!prompt) return;
    Exchange exchange = aside("summarise", model, *std::move(prompt), kSummaryTokens);
    if (exchange.outcome == "reply")
      if (const auto skill = summarised_skill(exchange.reply, task_.target, tools_.family))
        exchange.result = to_toml(*skill);
    if (exchange.prompt_tokens + exchange.reply_tokens > 0) said.push_back(std::move(exchange));
  }

  std::vector<std::size_t> select(const std::string& stage, std::size_t model, std::vector<Exchange>& said) {
    const auto& skills = tools_.skills.skills;
    auto prompt = select_prompt(task_, skills, stage, {prompt_room(models_[model].spec), nullptr, {}});
    if (!prompt) return skills_by_value(skills);
    Exchange exchange = aside("select", model, *std::move(prompt), kSelectTokens);
    const auto read = selected_skills(exchange.reply, skills);
    const std::vector<std::size_t> chosen = exchange.outcome == "reply" && read ? *read : skills_by_value(skills);
    for (const std::size_t i : chosen) exchange.result += (exchange.result.empty() ? "" : ", ") + skills[i].name;
    if (chosen.empty()) exchange.result = "none";
    if (exchange.prompt_tokens + exchange.reply_tokens > 0) said.push_back(std::move(exchange));
    return chosen;
  }

  /// The skills for one question. A choice stands for several; now and then none are shown, to compare with.
  std::vector<ContextItem> shown_skills(const ProposalRequest& request, std::size_t model,
                                        std::vector<Exchange>& said) {
    const SkillOffer& offer = tools_.skills;
    if (offer.skills.empty()) return {};
    std::vector<std::size_t> chosen;
    if (offer.always) {
      for (std::size_t i = 0; i < std::min(offer.skills.size(), kMostShownSkills); ++i) chosen.push_back(i);
    } else {
      if (Rng(request.seed).fork("skills").chance(kWithoutSkills)) return {};
      const std::string stage = request.parent ? "refine" : "draft";
      std::unique_lock lock(mutex_);
      Selection& kept = selections_[stage];
      if (kept.left > 0) {
        --kept.left;
        chosen = kept.chosen;
      } else {
        kept.left = kSelectEvery - 1;
        lock.unlock();
        chosen = select(stage, model, said);
        lock.lock();
        kept.chosen = chosen;
      }
    }
    std::vector<ContextItem> items;
    for (const std::size_t i : chosen) items.push_back(skill_item(offer.skills[i]));
    return items;
  }

  Result<Asked> question(const ProposalRequest& request, std::vector<Exchange>& said) {
    Asked asked;
    std::optional<std::pair<Conversation, std::size_t>> resumed;
    PromptVariant variant;
    {
      const std::lock_guard lock(mutex_);
      resumed = conversations_.resume(request.failures);
      Rng rng = Rng(request.seed).fork("model");
      asked.model = resumed ? index_of(resumed->first.model) : bandit_.choose(names_, rng);
      variant = resumed ? tools_.prompts.find(resumed->first.variant) != nullptr
                              ? *tools_.prompts.find(resumed->first.variant)
                              : tools_.prompts.seed()
                        : tools_.prompts.choose(rng);
    }
    asked.variant = variant.id;
    PromptOptions room{prompt_room(models_[asked.model].spec), &variant, {}};
    if (!resumed && tools_.context) room.context = tools_.context(request);
    if (!resumed)
      for (ContextItem& item : shown_skills(request, asked.model, said)) room.context.push_back(std::move(item));
    for (const ContextItem& item : room.context) asked.context.push_back(item.id);
    if (resumed) {
      asked.context = resumed->first.context;
      const auto& [conversation, at] = *resumed;
      const KernelRecord& failure = request.failures[at];
      KERF_TRY(asked.prompt, repair_prompt(task_, conversation.messages, failure, conversation.unreadable, room));
      asked.base = conversation.unreadable.empty() ? failure.source : "";
      asked.parent = conversation.parent;
      if (asked.parent) asked.parents.push_back(*asked.parent);
      asked.parents.push_back(failure.step);
      asked.change = fmt::format("step {} mended", failure.step);
      asked.turns = conversation.turns + 1;
    } else if (request.parent) {
      KERF_TRY(asked.prompt, refine_prompt(task_, request, room));
      asked.base = request.parent->source;
      asked.parent = request.parent->step;
      asked.parents = {request.parent->step};
      asked.change = fmt::format("step {} rewritten", request.parent->step);
    } else {
      KERF_TRY(asked.prompt, draft_prompt(task_, request, room));
      asked.change = "drafted";
    }
    return asked;
  }

  Proposal answered(const Asked& asked, const llm::ChatOutcome& outcome, std::vector<Exchange> before) {
    Proposal proposal;
    proposal.name = fmt::format("{} {}", names_[asked.model], asked.change);
    proposal.change = fmt::format("{} by {}", asked.change, names_[asked.model]);
    proposal.parents = asked.parents;
    Exchange exchange = exchange_of(asked, outcome);
    if (const auto* reply = std::get_if<llm::ChatReply>(&outcome)) {
      auto kernel = kernel_from_reply(reply->text, asked.base);
      proposal.source = kernel ? *kernel : reply->text;
      if (!kernel) proposal.unreadable = kernel.error().message;
    } else {
      proposal.source = exchange.reply;
      proposal.unreadable = std::get<llm::ChatFailure>(outcome).message;
    }
    proposal.provenance = {names_[asked.model], asked.prompt.id, asked.context, 0, 0, 0, 0};
    Conversation conversation{names_[asked.model], asked.prompt.messages, proposal.source,
                              proposal.unreadable, asked.parent,          asked.turns,
                              asked.variant,       asked.context,         proposal.change};
    // A model that is shown an empty answer of its own goes on with nothing.
    conversation.messages.push_back({"assistant", exchange.reply.empty() ? "(no answer)" : exchange.reply});
    proposal.exchanges = std::move(before);
    proposal.exchanges.push_back(std::move(exchange));
    for (const Exchange& one : proposal.exchanges) {
      proposal.provenance.prompt_tokens += one.prompt_tokens;
      proposal.provenance.reply_tokens += one.reply_tokens;
      proposal.provenance.cost_usd += one.cost_usd;
      proposal.provenance.seconds += one.seconds;
    }
    const std::lock_guard lock(mutex_);
    conversations_.keep(std::move(conversation));
    return proposal;
  }

  Exchange exchange_of(const Asked& asked, const llm::ChatOutcome& outcome) const {
    Exchange exchange;
    exchange.role = "policy";
    exchange.model = names_[asked.model];
    exchange.prompt = asked.prompt.id;
    exchange.turn = asked.turns;
    for (const llm::Message& message : asked.prompt.messages)
      exchange.messages.push_back({message.role, message.content});
    std::visit(
        [&](const auto& one) {
          exchange.reply = one.text;
          exchange.prompt_tokens = one.usage.prompt_tokens;
          exchange.reply_tokens = one.usage.reply_tokens;
          exchange.cost_usd = one.usage.cost_usd;
          exchange.seconds = one.seconds;
        },
        outcome);
    exchange.outcome = "reply";
    if (const auto* reply = std::get_if<llm::ChatReply>(&outcome)) exchange.reasoning = reply->reasoning;
    if (const auto* failed = std::get_if<llm::ChatFailure>(&outcome))
      exchange.outcome = llm::failure_name(failed->kind);
    return exchange;
  }

  const AgentTask task_;
  const std::vector<EnsembleModel> models_;
  const LlmTools tools_;
  std::vector<std::string> names_;
  int at_once_ = 0;
  bool priced_ = false;
  std::atomic<bool> cancelled_{false};
  mutable std::mutex mutex_;
  Conversations conversations_;  // guarded by mutex_, as all below
  llm::ModelBandit bandit_;
  Gains gains_;
  std::deque<std::string> recent_;   // what became of the latest answers
  std::vector<Exchange> unclaimed_;  // said, and not part of a proposal yet
  int repeats_ = 0;                  // known kernels in a row
  struct Selection {
    std::vector<std::size_t> chosen;
    int left = 0;  ///< questions that it still stands for
  };
  std::map<std::string, Selection> selections_;  // by stage
  Lineages lineages_;
  std::optional<Improved> improved_;  // the latest line that is to be written down
};

}  // namespace

std::unique_ptr<Proposer> make_llm_mind(AgentTask task, std::vector<EnsembleModel> models, const LlmTools& tools) {
  return std::make_unique<LlmMind>(std::move(task), std::move(models), tools);
}

}  // namespace kerf::agents
