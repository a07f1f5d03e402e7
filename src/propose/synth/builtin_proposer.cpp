#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "propose/synth/synthesiser.hpp"

namespace kerf::synth {
namespace {

Result<Genome> genome_of(const KernelRecord& ancestor) { return genome_with(ancestor.genome, ancestor.tunables); }

/// Mean over the genes of the logarithm of what is known of their variants.
double advised(const Genome& genome, const Advice& advice) {
  constexpr double kUnknown = 0.6;  // of the best speed: better than what is known to be slow
  double sum = 0;
  for (const Gene& gene : genome.genes) {
    const auto found = advice.find(gene.family + "/" + gene.variant);
    sum += std::log(found != advice.end() ? std::max(found->second, 1e-3) : kUnknown);
  }
  return genome.genes.empty() ? 0 : sum / static_cast<double>(genome.genes.size());
}

constexpr double kHopeless = 6;  ///< times the expected time of the best guess; expectations are off by less than this

/// Children of one request that are looked at for one that leads where it asks.
constexpr int kForesights = 4;

class BuiltinProposer final : public Proposer {
 public:
  BuiltinProposer(std::shared_ptr<Synthesiser> synthesiser, Foresee foresee, const Advice& advice)
      : synthesiser_(std::move(synthesiser)), foresee_(std::move(foresee)), starts_(synthesiser_->starts()) {
    leave_out_hopeless();
    if (!advice.empty()) order_by(advice);
  }

  std::string_view name() const override { return kBuiltinMind; }
  std::vector<OperationInfo> operations() const override {
    return {{kStartOperation}, {"restart"},      {"parameter", true},
            {"family", true},  {"fusion", true}, {"crossover", true, true}};
  }

  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
    Rng rng(request.seed);
    const std::string& operation = request.operation;
    if (operation == kStartOperation) {
      if (request.start_number >= starts_.size()) return std::optional<Proposal>{};
      return finish(starts_[request.start_number], {},
                    "start " + synthesiser_->describe(starts_[request.start_number]));
    }
    if (operation == "restart") {
      const Genome genome = synthesiser_->random(rng);
      return finish(genome, {}, "restart with " + synthesiser_->describe(genome));
    }
    if (!request.parent || request.parent->genome.empty()) return std::optional<Proposal>{};
    KERF_TRY(const Genome parent, genome_of(*request.parent));
    std::optional<Proposal> chosen;
    for (int attempt = 0; attempt < kForesights; ++attempt) {
      KERF_TRY(std::optional<Proposal> child, changed(operation, parent, request, rng));
      if (!child) break;
      const bool right = leads(request, *child);
      if (!chosen || right) chosen = std::move(child);
      if (right) break;
    }
    return chosen;
  }

 private:
  /// What should take many times as long as the best guess is no guess: with time for few kernels each one counts. Such
  /// plans are still drawn by restarts.
  void leave_out_hopeless() {
    const double best = starts_.empty() ? 0 : synthesiser_->expected_us(starts_.front());
    if (!(best > 0)) return;
    std::erase_if(starts_, [&](const Genome& start) { return synthesiser_->expected_us(start) > kHopeless * best; });
  }

  /// By what is known of their variants; a plan that should take twice as long as the shortest needs variants that are
  /// twice as good as its own.
  void order_by(const Advice& advice) {
    std::vector<std::pair<double, Genome>> scored;
    double shortest = 0;
    for (const Genome& start : starts_)
      if (const double expected = synthesiser_->expected_us(start); expected > 0)
        shortest = shortest > 0 ? std::min(shortest, expected) : expected;
    for (Genome& start : starts_) {
      const double expected = synthesiser_->expected_us(start);
      const double behind = expected > 0 ? std::log(expected / shortest) : 0;
      scored.emplace_back(advised(start, advice) - behind, std::move(start));
    }
    std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t i = 0; i < scored.size(); ++i) starts_[i] = std::move(scored[i].second);
  }

  /// True when the child goes where the search would like it to, as far as its source tells.
  bool leads(const ProposalRequest& request, const Proposal& child) const {
    if (!request.direction || !foresee_) return true;
    const auto at = static_cast<std::size_t>(request.direction->dimension);
    const std::vector<int> from = foresee_(request.parent->source), to = foresee_(child.source);
    if (at >= from.size() || at >= to.size()) return true;
    const int moved = to[at] - from[at], wanted = request.direction->step;
    return wanted == 0 ? moved == 0 : moved * wanted > 0;
  }

  Result<std::optional<Proposal>> changed(const std::string& operation, const Genome& parent,
                                          const ProposalRequest& request, Rng& rng) {
    std::vector<std::int64_t> parents{request.parent->step};
    std::optional<Genome> child;
    if (operation == "parameter") child = synthesiser_->change_parameter(parent, rng);
    if (operation == "family") child = synthesiser_->change_family(parent, rng);
    if (operation == "fusion") child = synthesiser_->change_fusion(parent, rng);
    if (operation == "crossover") {
      for (const KernelRecord& other : request.inspirations) {
        if (other.genome.empty()) continue;
        KERF_TRY(const Genome partner, genome_of(other));
        child = synthesiser_->cross(parent, partner, rng);
        if (!child) continue;
        parents.push_back(other.step);
        break;
      }
    }
    if (!child) return std::optional<Proposal>{};
    return finish(*child, std::move(parents), synthesiser_->difference(parent, *child));
  }

  Result<std::optional<Proposal>> finish(const Genome& genome, std::vector<std::int64_t> parents, std::string change) {
    KERF_TRY(Candidate candidate, synthesiser_->render(genome));
    return std::optional(Proposal{candidate.name, std::move(candidate.source), synthesiser_->text(genome),
                                  std::move(parents), std::move(change)});
  }

  std::shared_ptr<Synthesiser> synthesiser_;  // shared with what reads recipes off the run's genomes
  Foresee foresee_;
  std::vector<Genome> starts_;
};

}  // namespace

std::unique_ptr<Proposer> make_builtin_proposer(std::shared_ptr<Synthesiser> synthesiser, Foresee foresee,
                                                const Advice& advice) {
  return std::make_unique<BuiltinProposer>(std::move(synthesiser), std::move(foresee), advice);
}

}  // namespace kerf::synth
