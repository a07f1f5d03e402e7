#include "memory/retrieve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "memory/limits.hpp"

namespace kerf::memory {
namespace {

using Pool = std::vector<std::pair<double, const Experience*>>;

constexpr double kRedundancy = 0.5;     // what a choice that equals an earlier one loses
constexpr double kAdviceDoubt = 0.5;    // weight of the assumption that a variant is neither good nor bad
constexpr double kAdviceNeutral = 0.6;  // the share that is assumed then
constexpr std::size_t kMostItems = 1000, kMostAdvice = 10000;

double redundancy(const Experience& one, const std::vector<const Experience*>& chosen) {
  double most = 0;
  for (const Experience* other : chosen) most = std::max(most, likeness(one.recipe, other->recipe));
  return most;
}

double confidence_bound(const Experience& one, const Moments& moments) {
  return moments.deviation() * std::sqrt(std::log1p(moments.count) / (1 + value_count(one, ValueStage::refine)));
}

std::vector<const Experience*> choose_by_bound(Pool pool, const TaskSignature& task, const Moments& moments,
                                               const RetrieveOptions& options) {
  const bool valued = options.rule == Rule::kerf;
  std::vector<const Experience*> chosen;
  while (!pool.empty() && chosen.size() < static_cast<std::size_t>(std::max(0, options.count))) {
    const auto score = [&](const Pool::value_type& entry) {
      const Experience& one = *entry.second;
      double sum = entry.first - kRedundancy * redundancy(one, chosen);
      if (valued)
        sum += options.value_weight * value_of(one, ValueStage::refine, task.family) +
               options.exploration * confidence_bound(one, moments) * options.value_weight;
      return sum;
    };
    auto best = pool.begin();
    double most = score(*best);
    for (auto entry = std::next(pool.begin()); entry != pool.end(); ++entry)
      if (const double other = score(*entry); other > most) {
        most = other;
        best = entry;
      }
    chosen.push_back(best->second);
    pool.erase(best);
  }
  return chosen;
}

std::vector<const Experience*> choose_by_chance(Pool pool, const TaskSignature& task, const RetrieveOptions& options,
                                                Rng& rng) {
  std::vector<const Experience*> chosen;
  while (!pool.empty() && chosen.size() < static_cast<std::size_t>(std::max(0, options.count))) {
    auto at = pool.begin();
    if (rng.chance(options.epsilon))
      at += rng.integer(0, static_cast<std::int64_t>(pool.size()) - 1);
    else
      at = std::max_element(pool.begin(), pool.end(), [&](const auto& a, const auto& b) {
        return value_of(*a.second, ValueStage::refine, task.family) <
               value_of(*b.second, ValueStage::refine, task.family);
      });
    chosen.push_back(at->second);
    pool.erase(at);
  }
  return chosen;
}

/// What each variant reaches at its best on each task, averaged over tasks by similarity.
std::map<std::string, double> advice_from(const TaskSignature& task, const std::vector<Experience>& known,
                                          const RetrieveOptions& options) {
  std::map<std::string, std::map<std::string, std::pair<double, double>>> best;  // variant, task: weight and share
  for (const Experience& one : known) {
    const double weight = similarity_to(task, one, options.by_text);
    if (weight < options.least_similarity) continue;
    for (const RecipeGene& gene : one.recipe.genes) {
      auto& [heaviest, share] = best[gene.family + "/" + gene.variant][one.task_id];
      heaviest = std::max(heaviest, weight * weight);
      share = std::max(share, one.share);
    }
  }
  std::map<std::string, double> advice;
  for (const auto& [variant, tasks] : best) {
    double weights = kAdviceDoubt, sum = kAdviceDoubt * kAdviceNeutral;
    for (const auto& [id, entry] : tasks) {
      weights += entry.first;
      sum += entry.first * entry.second;
    }
    advice[variant] = sum / weights;
  }
  return advice;
}

}  // namespace

Pool most_similar(const TaskSignature& task, const std::vector<Experience>& known, std::size_t count, double least,
                  const TextSimilarity& by_text) {
  Pool pool;
  for (const Experience& one : known)
    if (one.kind == kKernelKind)
      if (const double like = similarity_to(task, one, by_text); like >= least) pool.emplace_back(like, &one);
  std::stable_sort(pool.begin(), pool.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->share > b.second->share;
  });
  if (pool.size() > count) pool.resize(count);
  return pool;
}

Recollection retrieve(const TaskSignature& task, const std::vector<Experience>& known, const Moments& moments,
                      const RetrieveOptions& options, const std::vector<std::string>& without, Rng rng) {
  Recollection recollection;
  recollection.rule = options.rule;
  std::vector<Experience> offered;
  for (const Experience& one : known)
    if (!one.recipe.genes.empty() && std::find(without.begin(), without.end(), one.id) == without.end())
      offered.push_back(one);  // others cannot be carried over to another task
  const auto size = static_cast<std::size_t>(std::max(0, options.count * options.pool_factor));
  const Pool pool = most_similar(task, offered, size, options.least_similarity, options.by_text);
  const auto chosen = options.rule == Rule::published ? choose_by_chance(pool, task, options, rng)
                                                      : choose_by_bound(pool, task, moments, options);
  for (const Experience* one : chosen)
    recollection.items.push_back({one->id, one->task, similarity_to(task, *one, options.by_text),
                                  value_of(*one, ValueStage::refine, task.family), one->speedup, one->recipe});
  if (options.count > 0 && options.rule != Rule::published) recollection.advice = advice_from(task, known, options);
  return recollection;
}

std::string to_json(const Recollection& recollection) {
  auto items = nlohmann::json::array();
  for (const Recalled& one : recollection.items) {
    items.push_back({{"id", one.id},
                     {"task", one.task},
                     {"similarity", one.similarity},
                     {"value", one.value},
                     {"speedup", one.speedup}});
    if (one.source.empty())
      items.back()["recipe"] = nlohmann::json::parse(to_json(one.recipe));
    else
      items.back()["source"] = one.source;
  }
  return nlohmann::json{
      {"schema", 1}, {"rule", rule_name(recollection.rule)}, {"items", items}, {"advice", recollection.advice}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Recollection> recollection_from_json(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("schema") || json["schema"] != 1 || !json.contains("items") ||
      !json["items"].is_array() || json["items"].size() > kMostItems || !json.contains("advice") ||
      !json["advice"].is_object() || json["advice"].size() > kMostAdvice)
    return fail(Errc::invalid_input, "what the run took from the memory cannot be read");
  Recollection recollection;
  KERF_TRY(const std::string rule, limited_text(json, "rule", kLongestWord));
  KERF_TRY(recollection.rule, rule_from_name(rule));
  for (const auto& item : json["items"]) {
    Recalled one;
    KERF_TRY(one.id, limited_text(item, "id", kLongestWord));
    KERF_TRY(one.task, limited_text(item, "task", kLongestWord));
    KERF_TRY(one.similarity, limited_number(item, "similarity", 0, 2));
    KERF_TRY(one.value, limited_number(item, "value", -10, 10));
    KERF_TRY(one.speedup, limited_number(item, "speedup", 0, 1e9));
    if (item.contains("source")) {
      KERF_TRY(one.source, limited_text(item, "source", kLongestSource));
    } else {
      if (!item.contains("recipe")) return fail(Errc::invalid_input, "a remembered kernel has no recipe");
      KERF_TRY(one.recipe, recipe_from_json(item["recipe"].dump()));
    }
    recollection.items.push_back(std::move(one));
  }
  for (const auto& [variant, share] : json["advice"].items())
    if (share.is_number()) recollection.advice[variant] = share.get<double>();
  return recollection;
}

}  // namespace kerf::memory
