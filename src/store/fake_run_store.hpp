#pragma once
// A run store in memory, for tests.

#include <map>
#include <string>
#include <vector>

#include "store/run_store.hpp"

namespace kerf {

class FakeRunStore final : public RunStore {
 public:
  std::vector<std::string> lines;          ///< of events.jsonl
  std::optional<std::string> failure;      ///< set: nothing can be written any more, for this reason
  std::filesystem::path place = "memory";  ///< shown as the folder

  Status record(const RunEvent& event) override {
    if (failure) return fail(Errc::io, *failure);
    if (const auto* finished = std::get_if<StepFinished>(&event)) {
      KERF_CHECK(finished->step.number == static_cast<std::int64_t>(steps_.size()) + 1,
                 "steps are numbered without gaps");
      steps_.push_back(finished->step);
    } else if (!std::holds_alternative<RunMark>(event)) {
      return {};
    }
    lines.push_back(to_json(event));
    return {};
  }
  Result<std::vector<Step>> steps() const override { return steps_; }
  Result<Step> step(std::int64_t number) const override {
    if (number < 1 || number > static_cast<std::int64_t>(steps_.size()))
      return fail(Errc::not_found, "there is no step " + std::to_string(number));
    return steps_[static_cast<std::size_t>(number - 1)];
  }
  Result<std::vector<Exchange>> exchanges(std::int64_t number) const override {
    KERF_TRY(Step found, step(number));
    return std::move(found.exchanges);
  }
  Status set(const std::string& key, const std::string& value) override {
    if (failure) return fail(Errc::io, *failure);
    facts_[key] = value;
    return {};
  }
  Result<std::map<std::string, std::string>> facts() const override { return facts_; }
  const std::filesystem::path& folder() const override { return place; }

 private:
  std::vector<Step> steps_;
  std::map<std::string, std::string> facts_;
};

}  // namespace kerf
