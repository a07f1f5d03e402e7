#include "run/skill_tally.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "run/run_skills.hpp"

namespace kerf {

std::vector<SkillTally> tally_skills(const RunView& run) {
  const std::string recorded = run.fact("skills");
  const auto offer = recorded.empty() ? Result<agents::SkillOffer>() : offer_from_json(recorded);
  if (!offer) return {};
  std::vector<SkillTally> tallies;
  std::map<std::string, std::size_t> place;  // by id
  for (const skill::Skill& one : offer->skills) {
    place[one.id] = tallies.size();
    tallies.emplace_back();
    tallies.back().skill = one;
  }
  std::set<std::int64_t> best;
  for (const TurningPoint& point : turning_points(run)) best.insert(point.step);
  const std::vector<Step> steps = with_refusals(run.steps);
  for (const Step& step : steps)
    for (const std::string& item : step.provenance.context) {
      if (!item.starts_with(agents::kSkillPrefix) || is_confirmation(step) || is_trial(step)) continue;
      const auto found = place.find(item.substr(agents::kSkillPrefix.size()));
      if (found == place.end()) continue;
      SkillTally& tally = tallies[found->second];
      ++tally.used;
      tally.passed += measurement_of(step) != nullptr;
      tally.best += best.contains(step.number);
    }
  for (const SkillUse& use : skill_uses(steps, "")) {
    const auto found = place.find(use.skill);
    if (found == place.end()) continue;
    SkillTally& tally = tallies[found->second];
    ++tally.compared;
    tally.gain += (use.gain - tally.gain) / static_cast<double>(tally.compared);
  }
  std::stable_sort(tallies.begin(), tallies.end(),
                   [](const SkillTally& a, const SkillTally& b) { return a.used > b.used; });
  return tallies;
}

const skill::Evidence* last_trial(const skill::Skill& skill) {
  for (auto one = skill.evidence.rbegin(); one != skill.evidence.rend(); ++one)
    if (!one->imported) return &*one;
  return nullptr;
}

}  // namespace kerf
