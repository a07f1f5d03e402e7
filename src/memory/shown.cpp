#include "memory/shown.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace kerf::memory {
namespace {

constexpr int kMostOfTask = 8;       // kernels in the pool
constexpr double kShownTwice = 0.3;  // what showing the same twice loses

double alike(const Experience& a, const Experience& b) {
  if (a.recipe.genes.empty() != b.recipe.genes.empty()) return 0;
  if (!a.recipe.genes.empty()) return likeness(a.recipe, b.recipe);
  return a.source_hash == b.source_hash ? 1 : 0;
}

/// What showing it is believed to add, as mean and deviation: what was expected and what was seen, each by its weight.
std::pair<double, double> belief(const Pooled& one, ValueStage stage, const std::string& family,
                                 const ShownOptions& options) {
  const ValueStage other = stage == ValueStage::draft_shown ? ValueStage::refine_shown : ValueStage::draft_shown;
  const double own_uses = value_count(one.experience, stage);
  const double other_uses = options.other_stage * value_count(one.experience, other);
  const double doubt = std::max(0.02, options.doubt * one.similarity);
  const double believed = options.noise * options.noise / (doubt * doubt);  // uses that weigh as much
  const double all = believed + own_uses + other_uses;
  const double sum = believed * options.expected * one.similarity + own_uses * value_of(one.experience, stage, family) +
                     other_uses * value_of(one.experience, other, family);
  return {sum / all, options.noise / std::sqrt(all)};
}

using Places = std::vector<std::size_t>;

Places untaken(const std::vector<Pooled>& pool, const char* kind, const Places& taken) {
  Places places;
  for (std::size_t at = 0; at < pool.size(); ++at)
    if (pool[at].experience.kind == kind && std::find(taken.begin(), taken.end(), at) == taken.end())
      places.push_back(at);
  return places;
}

/// The best by score one after the other; those like what was taken before lose.
void take(const std::vector<Pooled>& pool, const char* kind, int count, const std::vector<double>& scores,
          Places& taken) {
  for (int i = 0; i < count; ++i) {
    const Places places = untaken(pool, kind, taken);
    if (places.empty()) return;
    const auto worth = [&](std::size_t at) {
      double known = 0;
      for (const std::size_t other : taken) known = std::max(known, alike(pool[at].experience, pool[other].experience));
      return scores[at] - kShownTwice * known;
    };
    taken.push_back(*std::max_element(places.begin(), places.end(),
                                      [&](std::size_t a, std::size_t b) { return worth(a) < worth(b); }));
  }
}

/// As published: the largest value, or with chance `epsilon` any.
void take_by_chance(const std::vector<Pooled>& pool, const char* kind, int count, ValueStage stage, double epsilon,
                    Rng& rng, Places& taken) {
  for (int i = 0; i < count; ++i) {
    const Places places = untaken(pool, kind, taken);
    if (places.empty()) return;
    const auto value = [&](std::size_t at) { return value_of(pool[at].experience, stage, ""); };
    const auto best = std::max_element(places.begin(), places.end(),
                                       [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
    const bool any = rng.chance(epsilon);
    taken.push_back(any ? places[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(places.size()) - 1))]
                        : *best);
  }
}

}  // namespace

std::vector<Pooled> shown_pool(const TaskSignature& task, const std::vector<Experience>& known,
                               const ShownOptions& options) {
  std::map<std::string, const Experience*> best;  // by task and composition, or by id
  for (const Experience& one : known) {
    if (similarity_to(task, one, options.by_text) < options.least_similarity) continue;
    const bool made = one.kind == kKernelKind && !one.recipe.genes.empty();
    const Experience*& place = best[made ? one.task_id + "\n" + composition(one.recipe) : one.id];
    if (place == nullptr || one.share > place->share) place = &one;
  }
  std::vector<Pooled> pool;
  for (const auto& [key, one] : best) pool.push_back({similarity_to(task, *one, options.by_text), *one});
  // Of a task first what was seen to help, then what was not shown yet, the fastest first.
  const auto worth = [&](const Pooled& one) {
    return belief(one, ValueStage::draft_shown, task.family, options).first +
           belief(one, ValueStage::refine_shown, task.family, options).first;
  };
  const bool valued = options.rule == Rule::kerf;
  std::stable_sort(pool.begin(), pool.end(), [&](const Pooled& a, const Pooled& b) {
    if (a.similarity != b.similarity) return a.similarity > b.similarity;
    const double left = valued ? worth(a) : 0, right = valued ? worth(b) : 0;
    return left != right ? left > right : a.experience.share > b.experience.share;
  });
  std::map<std::string, int> of_task;  // so that one task that was searched often leaves room for others
  std::erase_if(pool, [&](const Pooled& one) {
    return one.experience.kind == kKernelKind && ++of_task[one.experience.task_id] > kMostOfTask;
  });
  int kernels = std::max(0, options.kernels * options.pool_factor);
  int failures = std::max(0, options.failures * options.pool_factor);
  std::erase_if(pool,
                [&](const Pooled& one) { return (one.experience.kind == kKernelKind ? kernels : failures)-- <= 0; });
  return pool;
}

std::vector<std::size_t> choose_shown(const std::vector<Pooled>& pool, ValueStage stage, const std::string& family,
                                      const ShownOptions& options, Rng rng) {
  std::vector<std::size_t> taken;
  if (options.rule == Rule::published) {
    take_by_chance(pool, kKernelKind, options.kernels, stage, options.epsilon, rng, taken);
    take_by_chance(pool, kFailureKind, options.failures, stage, options.epsilon, rng, taken);
    return taken;
  }
  if (rng.chance(options.control)) return taken;
  std::vector<double> scores;
  for (const Pooled& one : pool) {
    const auto [mean, deviation] = belief(one, stage, family, options);
    scores.push_back(options.rule == Rule::kerf ? mean + deviation * rng.normal() : one.similarity);
  }
  take(pool, kKernelKind, options.kernels, scores, taken);
  take(pool, kFailureKind, options.failures, scores, taken);
  return taken;
}

}  // namespace kerf::memory
