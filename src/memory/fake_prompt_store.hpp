#pragma once
// Prompts that are gone with their process, for tests and simulations.

#include <map>
#include <string>
#include <utility>

#include "memory/prompt_store.hpp"

namespace kerf {

class FakePromptStore final : public PromptStore {
 public:
  Result<std::vector<KeptPrompt>> prompts(const std::string& target) const override {
    std::vector<KeptPrompt> list;
    for (KeptPrompt one : all_) {
      if (!target.empty() && one.target != target) continue;
      const auto found = figures_.find({one.target, one.id});
      if (found != figures_.end())
        for (const auto& [run, figures] : found->second) {
          one.figures = pooled(one.figures, figures);
          ++one.runs;
        }
      list.push_back(std::move(one));
    }
    return list;
  }
  Status keep(const std::string& run, const std::vector<KeptPrompt>& prompts) override {
    for (const KeptPrompt& one : prompts) {
      bool known = false;
      for (const KeptPrompt& other : all_) known = known || (other.id == one.id && other.target == one.target);
      if (!known) {
        all_.push_back(one);
        all_.back().figures = {};
        all_.back().runs = 0;
      }
      if (!run.empty() && one.figures.uses > 0) figures_[{one.target, one.id}][run] = one.figures;
    }
    return {};
  }
  Status remove(const std::vector<KeptPrompt>& prompts) override {
    for (const KeptPrompt& gone : prompts) {
      std::erase_if(all_, [&](const KeptPrompt& one) { return one.id == gone.id && one.target == gone.target; });
      figures_.erase({gone.target, gone.id});
    }
    return {};
  }

 private:
  std::vector<KeptPrompt> all_;
  std::map<std::pair<std::string, std::string>, std::map<std::string, PromptFigures>> figures_;
};

}  // namespace kerf
