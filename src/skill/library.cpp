#include "skill/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "skill/search.hpp"
#include "skill/skill_file.hpp"

namespace kerf::skill {
namespace {

constexpr double kLeastUses = 8;  // before what came of them can retire a skill
constexpr double kMostWeight = 200;
constexpr std::size_t kMostMergedTags = 16, kMostMergedParents = 16;

/// How much a skill is worth keeping: larger is better.
std::pair<int, double> rank(const Skill& skill) {
  const int by_state = skill.state == State::verified ? 3 : skill.state == State::candidate ? 2 : 1;
  return {by_state, posterior_effect(skill)};
}

void take_over(Skill& kept, const Skill& other) {
  for (const std::string& tag : other.tags)
    if (kept.tags.size() < kMostMergedTags && std::find(kept.tags.begin(), kept.tags.end(), tag) == kept.tags.end())
      kept.tags.push_back(tag);
  if (kept.parents.size() < kMostMergedParents &&
      std::find(kept.parents.begin(), kept.parents.end(), other.id) == kept.parents.end())
    kept.parents.push_back(other.id);
  kept.version = std::max(kept.version, other.version) + 1;
}

bool is_seed(const Skill& skill) {
  const auto& seeds = seed_skills();
  return std::any_of(seeds.begin(), seeds.end(), [&](const Skill& seed) { return seed.id == skill.id; });
}

/// Names of those beyond the limit, with their ids in `removed`. Seeds are always there and do not count.
std::vector<std::string> drop_beyond(std::vector<Skill> all, std::size_t most, const std::string& keep,
                                     std::vector<std::string>& removed) {
  std::erase_if(all, [&](const Skill& one) { return is_seed(one); });
  std::stable_sort(all.begin(), all.end(), [&](const Skill& a, const Skill& b) {
    if ((a.id == keep) != (b.id == keep)) return a.id == keep;
    return rank(a) != rank(b) ? rank(a) > rank(b) : a.recorded_ms > b.recorded_ms;
  });
  std::vector<std::string> names;
  for (std::size_t i = most; i < all.size(); ++i) {
    names.push_back(all[i].name);
    removed.push_back(all[i].id);
  }
  return names;
}

/// Somebody else's word is not; what Kerf comes with is.
bool is_trusted(const Skill& skill, const Evidence& trial) { return !trial.imported || is_seed(skill); }

/// Whether the lower bound of the mean over all trials on a target is above 0, by inverse variance; each counts half as
/// much as the one after it.
bool together_above_zero(const Skill& skill, const std::string& target, double Evidence::* mean, double Evidence::* low,
                         double Evidence::* high) {
  double weights = 0, sum = 0, share = 1;
  for (auto one = skill.evidence.rbegin(); one != skill.evidence.rend(); ++one) {
    if (!is_trusted(skill, *one) || one->target != target) continue;
    const double half = std::max(((*one).*high - (*one).*low) / 2, 1e-6);
    const double weight = share / (half * half);
    weights += weight;
    sum += weight * (*one).*mean;
    share /= 2;
  }
  return weights > 0 && sum / weights - 1 / std::sqrt(weights) > 0;
}

}  // namespace

Result<std::vector<Skill>> all_skills(const SkillStore& store, std::vector<std::string>& skipped) {
  KERF_TRY(std::vector<Skill> all, store.skills(skipped));
  for (const Skill& seed : seed_skills())
    if (std::none_of(all.begin(), all.end(), [&](const Skill& one) { return one.id == seed.id; })) all.push_back(seed);
  std::stable_sort(all.begin(), all.end(), [](const Skill& a, const Skill& b) { return a.name < b.name; });
  return all;
}

Result<Added> add_skill(SkillStore& store, Skill skill, const LibraryLimits& limits) {
  std::vector<std::string> skipped, removed;
  KERF_TRY(std::vector<Skill> all, all_skills(store, skipped));
  Added added{skill.id, false, "", {}};
  for (const Skill& one : all)
    if (one.id == skill.id) {
      added.known = true;
      return added;
    }
  const Skill* nearest = nullptr;
  double closest = limits.near_duplicate;
  for (const Skill& one : all) {
    if (one.scope != skill.scope) continue;
    const double alike = likeness(one, skill);
    if (alike < closest) continue;
    closest = alike;
    nearest = &one;
  }
  if (nearest != nullptr) {
    added.merged_with = nearest->name;
    Skill other = *nearest;
    if (rank(other) < rank(skill)) {
      removed.push_back(other.id);
      std::swap(other, skill);  // a seed that loses stays what it is: it is not in the store
    }
    Skill kept = std::move(other);
    take_over(kept, skill);
    skill = std::move(kept);
    added.id = skill.id;
  }
  std::erase_if(all, [&](const Skill& one) {
    return one.id == skill.id || std::find(removed.begin(), removed.end(), one.id) != removed.end();
  });
  all.push_back(skill);
  added.dropped = drop_beyond(std::move(all), limits.most, skill.id, removed);
  KERF_TRY_VOID(store.change({skill}, removed));
  return added;
}

Skill with_evidence(Skill skill, Evidence evidence) {
  const bool was_verified = skill.state == State::verified;
  skill.state = evidence.admitted ? State::verified : was_verified ? State::retired : State::refused;
  skill.evidence.push_back(std::move(evidence));
  while (skill.evidence.size() > kMostEvidence) skill.evidence.erase(skill.evidence.begin());
  return skill;
}

const Evidence* trusted_trial(const Skill& skill, std::string_view target) {
  const Evidence* shipped = nullptr;
  for (auto one = skill.evidence.rbegin(); one != skill.evidence.rend(); ++one) {
    if (one->target != target || !is_trusted(skill, *one)) continue;
    if (!one->imported) return &*one;
    if (shipped == nullptr) shipped = &*one;
  }
  return shipped;
}

Skill with_recheck(Skill skill, Evidence evidence) {
  const std::string target = evidence.target;
  const bool refused = evidence.clear || evidence.high <= 0 || evidence.placebo_high <= 0;
  skill.evidence.push_back(std::move(evidence));
  while (skill.evidence.size() > kMostEvidence) skill.evidence.erase(skill.evidence.begin());
  const bool faster = together_above_zero(skill, target, &Evidence::effect, &Evidence::low, &Evidence::high);
  const bool over_placebo =
      together_above_zero(skill, target, &Evidence::over_placebo, &Evidence::placebo_low, &Evidence::placebo_high);
  Evidence& last = skill.evidence.back();
  last.admitted = !refused && faster && over_placebo;
  if (last.admitted)
    last.reason = "tried again: all trials together still show it to help";
  else if (!refused)
    last.reason = fmt::format("tried again: all trials together no longer show it to be faster than {}",
                              faster ? "a placebo" : "without it");
  skill.state = last.admitted ? State::verified : State::retired;
  return skill;
}

Result<std::vector<std::string>> learn_uses(SkillStore& store, const std::vector<SkillUse>& uses) {
  KERF_TRY(const auto fresh, store.note_uses(uses));
  if (fresh.empty()) return std::vector<std::string>{};
  std::vector<std::string> skipped, retired;
  KERF_TRY(const std::vector<Skill> all, all_skills(store, skipped));
  std::vector<Skill> changed;
  for (Skill one : all) {
    const double before = one.uses.count;
    for (const SkillUse& use : fresh) {
      if (use.skill != one.id) continue;
      one.uses.count = std::min(one.uses.count + 1, kMostWeight);  // what is long ago fades
      one.uses.mean += (std::clamp(use.gain, -5.0, 5.0) - one.uses.mean) / one.uses.count;
    }
    if (one.uses.count == before && before < kMostWeight) continue;
    if (one.state == State::verified && one.uses.count >= kLeastUses && posterior_effect(one) <= 0) {
      one.state = State::retired;
      retired.push_back(one.name);
    }
    changed.push_back(std::move(one));
  }
  KERF_TRY_VOID(store.change(changed, {}));
  return retired;
}

}  // namespace kerf::skill
