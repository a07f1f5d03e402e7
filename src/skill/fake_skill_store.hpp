#pragma once
// Skills that are gone with their process, for tests and simulations.

#include <map>
#include <set>
#include <tuple>

#include "skill/library.hpp"

namespace kerf {

class FakeSkillStore final : public SkillStore {
 public:
  Result<std::vector<skill::Skill>> skills(std::vector<std::string>&) const override {
    std::vector<skill::Skill> list;
    for (const auto& [id, one] : all_) list.push_back(one);
    return list;
  }
  Status change(const std::vector<skill::Skill>& written, const std::vector<std::string>& removed) override {
    for (const std::string& id : removed) all_.erase(id);
    for (const skill::Skill& one : written) all_.insert_or_assign(one.id, one);
    return {};
  }
  Result<std::vector<SkillUse>> note_uses(const std::vector<SkillUse>& uses) override {
    std::vector<SkillUse> fresh;
    for (const SkillUse& use : uses)
      if (noted_.insert({use.run, use.step, use.skill}).second) fresh.push_back(use);
    return fresh;
  }

 private:
  std::map<std::string, skill::Skill> all_;
  std::set<std::tuple<std::string, std::int64_t, std::string>> noted_;
};

}  // namespace kerf
