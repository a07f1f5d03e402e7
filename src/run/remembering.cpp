#include "run/remembering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "archive/speedup_estimates.hpp"
#include "base/hash.hpp"
#include "base/version.hpp"
#include "memory/lessons.hpp"
#include "run/given_kernels.hpp"

namespace kerf {

Result<std::string> run_id(const RunStore& run) {
  KERF_TRY(const auto facts, run.facts());
  const auto fact = [&](const char* key) {
    const auto found = facts.find(key);
    return found == facts.end() ? std::string() : found->second;
  };
  if (std::string id = fact("run_id"); !id.empty()) return id;
  return sha256_hex(run.folder().string() + fact("seed") + fact("task_source")).substr(0, 16);
}

memory::TaskSignature signature_for(const Task& task, const std::string& target, const DeviceFacts& facts) {
  return memory::signature_of(task, target,
                              {facts.name.substr(0, 100), facts.arch.substr(0, 100), facts.compute_units,
                               static_cast<double>(facts.cache_bytes)});
}

Result<memory::Recollection> recall(const MemoryStore& store, const memory::TaskSignature& task,
                                    const memory::RetrieveOptions& options, std::uint64_t seed,
                                    memory::Recollection before, std::vector<std::string>& skipped) {
  KERF_TRY(const auto known, store.experiences(task.target, skipped));
  KERF_TRY(const auto moments, store.moments());
  std::vector<std::string> taken;
  for (const memory::Recalled& one : before.items) taken.push_back(one.id);
  memory::Recollection found =
      memory::retrieve(task, known, moments, options, taken, Rng(seed).fork(fmt::format("recall {}", taken.size())));
  found.items.insert(found.items.begin(), before.items.begin(), before.items.end());
  if (!before.items.empty() || !before.advice.empty()) found.advice = before.advice;  // first guesses keep their order
  return found;
}

Status recall_sources(const MemoryStore& store, const std::string& task_id, const memory::TaskSignature& task,
                      const memory::RetrieveOptions& options, bool builtin, std::uint64_t seed,
                      memory::Recollection& found) {
  std::vector<std::string> skipped;
  KERF_TRY(const auto known, store.experiences(task.target, skipped));
  std::vector<std::pair<double, const memory::Experience*>> own;
  Rng rng = Rng(seed).fork("recall sources");
  for (const memory::Experience& one : known) {
    const bool made = !one.recipe.genes.empty();
    if (one.kind != memory::kKernelKind || one.task_id != task_id || (made && builtin) ||
        std::any_of(found.items.begin(), found.items.end(), [&](const auto& item) { return item.id == one.id; }))
      continue;
    const bool any = options.rule == memory::Rule::published && rng.chance(options.epsilon);
    own.emplace_back(any ? 10 : memory::value_of(one, memory::ValueStage::refine, task.family), &one);
  }
  std::stable_sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  int left = options.count;
  for (const auto& [value, one] : own) {
    if (left <= 0) break;
    KERF_TRY(std::string source, store.source(one->id));
    if (source.empty()) continue;
    found.items.push_back({one->id, one->task, memory::similarity(task, one->signature), value, one->speedup,
                           one->recipe, std::move(source)});
    --left;
  }
  return {};
}

std::vector<Proposal> remembered_kernels(const memory::Recollection& recollection,
                                         const synth::Synthesiser* synthesiser) {
  /// Where another task's way should take so many times the planner's own first guess, it is no help here.
  constexpr double kMuchSlower = 1.5;
  std::vector<Proposal> kernels;
  std::set<std::string> sources;
  double first_guess = 0;
  if (synthesiser != nullptr && !recollection.items.empty())
    first_guess = synthesiser->expected_us(synthesiser->starts().front());
  for (const memory::Recalled& one : recollection.items) {
    if (!one.source.empty()) {
      if (!sources.insert(one.source).second) continue;
      Proposal kernel{"remembered kernel",
                      one.source,
                      "",
                      {},
                      fmt::format("the source of an earlier kernel of {} ({:.2f}x then)", one.task, one.speedup)};
      kernel.provenance.context = {std::string(memory::kContextPrefix) + one.id};
      kernels.push_back(std::move(kernel));
      continue;
    }
    const auto genome = synthesiser == nullptr ? std::nullopt : synthesiser->adapted(one.recipe);
    if (!genome || (first_guess > 0 && synthesiser->expected_us(*genome) > kMuchSlower * first_guess)) continue;
    auto candidate = synthesiser->render(*genome);
    if (!candidate || !sources.insert(candidate->source).second) continue;
    Proposal kernel{candidate->name,
                    std::move(candidate->source),
                    synth::to_json(*genome),
                    {},
                    fmt::format("remembered from {} ({:.2f}x there, {:.0f} % alike): {}", one.task, one.speedup,
                                100 * one.similarity, memory::recipe_words(one.recipe))};
    kernel.provenance.context = {std::string(memory::kContextPrefix) + one.id};
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::unique_ptr<Proposer> make_remembered(std::vector<Proposal> kernels) {
  return make_given_kernels(kMemoryMind, std::move(kernels));
}

Status remember(MemoryStore& store, const RunStore& run, const Task& task, const memory::TaskSignature& signature,
                const synth::Synthesiser* synthesiser, memory::Rule rule, std::int64_t wall_ms) {
  KERF_TRY(auto recorded, run.steps());
  SpeedupEstimates estimates;  // by way of refused kernels, too: what they were timed in turn with
  for (const Step& step : recorded) estimates.observe(step);
  const std::vector<Step> steps = with_refusals(std::move(recorded));
  KERF_TRY(const std::string id, run_id(run));
  const auto recipe_of = [&](const Step& step) -> std::optional<memory::Recipe> {
    const auto genome = synth::genome_with(step.genome, step.tunables);
    return genome && synthesiser != nullptr ? synthesiser->recipe(*genome) : std::nullopt;
  };
  KERF_TRY(const auto named, run.get("best_step"));
  std::int64_t best = 0;  // 0: the run has none
  if (named) std::from_chars(named->data(), named->data() + named->size(), best);
  memory::Presented presented;
  if (const auto winner = std::ranges::find(steps, best, &Step::number); winner != steps.end()) {
    presented.speedup_of = [&](const Step& step) { return estimates.on_scale_of(best, step.number).ratio; };
    presented.best = is_fallback(*winner) ? 1 : presented.speedup_of(*winner);
  }
  const memory::Lessons lessons =
      memory::lessons_of(steps, {id, task.name, task.id, signature, kKerfVersion, wall_ms}, recipe_of, rule, presented);
  KERF_TRY_VOID(store.add(lessons.experiences));
  return store.learn(lessons.uses, rule);
}

}  // namespace kerf
