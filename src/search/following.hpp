#pragma once
// Takes the recorded decisions of an earlier run again. Decisions depend on timings, which differ from run to run; with
// the decisions given, a deterministic mind must write the same kernels.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "search/asking.hpp"

namespace kerf {

class Following {
 public:
  /// `recorded` is borrowed; `target` is that of kernels that have no `target:` line.
  Following(const std::vector<Step>& recorded, std::string target) : recorded_(recorded), target_(std::move(target)) {}

  /// The next recorded proposal, asked for again where its mind answers at once, else as it was recorded. `remarks`
  /// says where the mind now writes another kernel; the recorded one is taken then. None at the end of the record.
  Result<std::optional<Planned>> next(const SearchState& state, std::span<Proposer* const> minds,
                                      std::vector<std::string>& remarks);

  /// The recorded step became this one.
  void became(std::int64_t recorded, std::int64_t step) { steps_[recorded] = step; }
  bool done() const { return position_ >= recorded_.size(); }

 private:
  std::optional<std::int64_t> here(std::int64_t recorded) const;
  std::vector<std::int64_t> here(const std::vector<std::int64_t>& recorded) const;
  std::optional<ProposalRequest> request(const Step& step, const SearchState& state) const;

  const std::vector<Step>& recorded_;
  std::string target_;
  std::size_t position_ = 0;
  std::map<std::int64_t, std::int64_t> steps_;  // recorded number to the number here
};

}  // namespace kerf
