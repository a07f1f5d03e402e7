#pragma once
// A memory that is gone with its process, for tests and simulations. Keeps everything it is given.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "memory/memory_store.hpp"

namespace kerf {

class FakeMemoryStore final : public MemoryStore {
 public:
  Status add(const std::vector<memory::Experience>& experiences) override {
    for (memory::Experience one : experiences) {
      if (const auto known = all_.find(one.id); known != all_.end()) {
        one.values = known->second.values;
        one.seen = known->second.seen + (known->second.run == one.run ? 0 : 1);
        keep_confirmed(known->second, one);
      }
      if (!one.source.empty()) sources_[one.id] = std::exchange(one.source, {});
      all_.insert_or_assign(one.id, std::move(one));
    }
    return {};
  }
  Status learn(const std::vector<MemoryUse>& uses, memory::Rule rule) override {
    for (const MemoryUse& use : uses) {
      const auto found = all_.find(use.experience);
      if (found == all_.end() || !known_.insert({use.run, use.step, use.experience}).second) continue;
      uses_.push_back(use);
      if (!found->second.frozen)
        memory::learn(
            found->second.values[use.stage], use.family,
            memory::is_refining(use.stage) ? memory::scaled_reward(use.reward, moments_[use.stage], rule) : use.reward,
            rule);
      if (memory::is_refining(use.stage)) moments_[use.stage].add(use.reward);
    }
    return {};
  }
  Result<std::vector<memory::Experience>> experiences(const std::string& target,
                                                      std::vector<std::string>&) const override {
    std::vector<memory::Experience> list;
    for (const auto& [id, one] : all_)
      if (target.empty() || one.signature.target == target) list.push_back(one);
    return list;
  }
  Result<memory::Moments> moments(memory::ValueStage stage) const override {
    const auto found = moments_.find(stage);
    return found == moments_.end() ? memory::Moments{} : found->second;
  }
  Result<std::string> source(const std::string& experience) const override {
    const auto found = sources_.find(experience);
    return found == sources_.end() ? std::string() : found->second;
  }
  Result<std::vector<MemoryUse>> uses(const std::string& experience) const override {
    std::vector<MemoryUse> list;
    for (const MemoryUse& use : uses_)
      if (use.experience == experience) list.push_back(use);
    return list;
  }

 private:
  std::map<std::string, memory::Experience> all_;
  std::set<std::tuple<std::string, std::int64_t, std::string>> known_;
  std::vector<MemoryUse> uses_;
  std::map<std::string, std::string> sources_;
  std::map<memory::ValueStage, memory::Moments> moments_;
};

}  // namespace kerf
