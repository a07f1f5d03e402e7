#include "propose/agents/llm_mind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>

#include "base/rng.hpp"
#include "llm/model_bandit.hpp"
#include "propose/agents/conversations.hpp"
#include "propose/agents/prompt.hpp"
#include "propose/agents/reply.hpp"

namespace kerf::agents {
namespace {

constexpr const char* kName = "llm";
constexpr int kMostRepeats = 20;  // known kernels in a row, after which the models have no more to say

/// The model answered, and what it said is no kernel: a step like any other, with the reason.
bool is_an_answer(llm::FailureKind kind) {
  using enum llm::FailureKind;
  return kind == malformed || kind == empty || kind == truncated || kind == too_large || kind == refused;
}

std::optional<double> log_speedup(const Step& step) {
  const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
  if (measured == nullptr || !(measured->speedup.ratio > 0)) return std::nullopt;
  return std::log(compared_speedup(*measured).ratio);
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
};

class LlmMind final : public Proposer {
 public:
  LlmMind(AgentTask task, std::vector<EnsembleModel> models, const llm::Budget& budget)
      : task_(std::move(task)), models_(std::move(models)), budget_(budget) {
    for (const EnsembleModel& one : models_) {
      names_.push_back(one.model->name());
      at_once_ += one.spec.rate.at_once;
      priced_ = priced_ || (one.spec.price && one.spec.price->of(1, 1) > 0);
    }
  }

  std::string_view name() const override { return kName; }
  std::vector<OperationInfo> operations() const override { return {{kStartOperation}, {"draft"}, {"refine", true}}; }
  int questions_at_once() const override { return at_once_; }
  void cancel() override { cancelled_ = true; }

  Spending spending() const override {
    const llm::Usage spent = budget_.spent();
    const llm::BudgetLimits& limits = budget_.limits();
    Spending now{spent.tokens(), limits.tokens, spent.cost_usd, limits.cost_usd, budget_.used_up()};
    const std::lock_guard lock(mutex_);
    if (!now.used_up && repeats_ >= kMostRepeats)
      now.used_up = fmt::format("the models repeat themselves: {} known kernels in a row", repeats_);
    return now;
  }

  void observe(const Step& step) override {
    const std::lock_guard lock(mutex_);
    const auto figure = log_speedup(step);
    if (figure) speedups_[step.number] = *figure;
    if (step.proposer != kName || (step.stage != Stage::start && step.stage != Stage::search)) return;
    repeats_ = is_duplicate(step) ? repeats_ + 1 : 0;
    double gain = 0;
    const auto parent = step.parents.empty() ? speedups_.end() : speedups_.find(step.parents.front());
    if (figure) gain = std::max(0.0, *figure - (parent == speedups_.end() ? 0.0 : parent->second));
    bandit_.observe(step.provenance.model, gain, priced_ ? step.provenance.cost_usd : step.provenance.seconds);
  }

  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
    KERF_TRY(const Asked asked, question(request));
    const EnsembleModel& chosen = models_[asked.model];
    const llm::ChatRequest chat{asked.prompt.messages, reply_tokens(chosen.spec)};
    const llm::ChatOutcome outcome = chosen.model->ask(chat, cancelled_);
    if (const auto* failed = std::get_if<llm::ChatFailure>(&outcome);
        failed != nullptr && !is_an_answer(failed->kind)) {
      const bool ended = failed->kind == llm::FailureKind::budget || failed->kind == llm::FailureKind::cancelled;
      if (ended) return std::optional<Proposal>{};
      return fail(Errc::unavailable, failed->message);
    }
    return std::optional(answered(asked, outcome));
  }

 private:
  /// Of the model's context, half at most is for the answer.
  static std::int64_t reply_tokens(const llm::ModelSpec& spec) {
    return std::min(spec.max_reply_tokens, spec.context_tokens / 2);
  }
  static PromptRoom room_of(const llm::ModelSpec& spec) { return {spec.context_tokens - reply_tokens(spec) - 64}; }

  std::size_t index_of(const std::string& model) const {
    return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), model) - names_.begin());
  }

  Result<Asked> question(const ProposalRequest& request) {
    Asked asked;
    std::optional<std::pair<Conversation, std::size_t>> resumed;
    {
      const std::lock_guard lock(mutex_);
      resumed = conversations_.resume(request.failures);
      Rng rng = Rng(request.seed).fork("model");
      asked.model = resumed ? index_of(resumed->first.model) : bandit_.choose(names_, rng);
    }
    const PromptRoom room = room_of(models_[asked.model].spec);
    if (resumed) {
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

  Proposal answered(const Asked& asked, const llm::ChatOutcome& outcome) {
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
    proposal.provenance = {names_[asked.model], asked.prompt.id, {}, exchange.prompt_tokens, exchange.reply_tokens,
                           exchange.cost_usd,   exchange.seconds};
    Conversation conversation{names_[asked.model], asked.prompt.messages, proposal.source,
                              proposal.unreadable, asked.parent,          asked.turns};
    // A model that is shown an empty answer of its own goes on with nothing.
    conversation.messages.push_back({"assistant", exchange.reply.empty() ? "(no answer)" : exchange.reply});
    proposal.exchanges.push_back(std::move(exchange));
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
  const llm::Budget& budget_;
  std::vector<std::string> names_;
  int at_once_ = 0;
  bool priced_ = false;
  std::atomic<bool> cancelled_{false};
  mutable std::mutex mutex_;
  Conversations conversations_;  // guarded by mutex_, as all below
  llm::ModelBandit bandit_;
  std::map<std::int64_t, double> speedups_;  // logarithms, by step
  int repeats_ = 0;                          // known kernels in a row
};

}  // namespace

std::unique_ptr<Proposer> make_llm_mind(AgentTask task, std::vector<EnsembleModel> models, const llm::Budget& budget) {
  return std::make_unique<LlmMind>(std::move(task), std::move(models), budget);
}

}  // namespace kerf::agents
