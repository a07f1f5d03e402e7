#include "run/own_kernels.hpp"

#include <nlohmann/json.hpp>

namespace kerf {
namespace {

class OwnKernels final : public Proposer {
 public:
  explicit OwnKernels(std::vector<Candidate> kernels) : kernels_(std::move(kernels)) {}
  std::string_view name() const override { return "own"; }
  std::vector<OperationInfo> operations() const override { return {{.name = kStartOperation, .given = true}}; }
  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
    if (request.operation != kStartOperation || request.start_number >= kernels_.size())
      return std::optional<Proposal>{};
    const Candidate& kernel = kernels_[request.start_number];
    return std::optional(Proposal{kernel.name, kernel.source, "", {}, "given: " + kernel.name});
  }

 private:
  std::vector<Candidate> kernels_;
};

}  // namespace

std::unique_ptr<Proposer> make_own_kernels(std::vector<Candidate> kernels) {
  return std::make_unique<OwnKernels>(std::move(kernels));
}

std::string to_json(const std::vector<Candidate>& kernels) {
  auto list = nlohmann::json::array();
  for (const Candidate& kernel : kernels) list.push_back({{"name", kernel.name}, {"source", kernel.source}});
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<std::vector<Candidate>> kernels_from_json(const std::string& text, const std::string& target) {
  std::vector<Candidate> kernels;
  if (text.empty()) return kernels;
  const auto list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return fail(Errc::invalid_input, "the kernels that the run was started from cannot be read");
  for (const auto& entry : list) {
    KERF_TRY(Candidate kernel, parse_candidate(entry.value("name", ""), entry.value("source", "")));
    if (kernel.target.empty()) kernel.target = target;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace kerf
