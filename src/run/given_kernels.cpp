#include "run/given_kernels.hpp"

#include <optional>
#include <utility>

namespace kerf {
namespace {

class GivenKernels final : public Proposer {
 public:
  GivenKernels(std::string_view name, std::vector<Proposal> kernels) : name_(name), kernels_(std::move(kernels)) {}
  std::string_view name() const override { return name_; }
  std::vector<OperationInfo> operations() const override { return {{.name = kStartOperation, .given = true}}; }
  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
    if (request.operation != kStartOperation || request.start_number >= kernels_.size())
      return std::optional<Proposal>{};
    return std::optional(kernels_[request.start_number]);
  }

 private:
  std::string_view name_;
  std::vector<Proposal> kernels_;
};

}  // namespace

std::unique_ptr<Proposer> make_given_kernels(std::string_view name, std::vector<Proposal> kernels) {
  return std::make_unique<GivenKernels>(name, std::move(kernels));
}

}  // namespace kerf
