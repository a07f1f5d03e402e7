#include "run/minds.hpp"

#include <array>

#include "propose/synth/synthesiser.hpp"
#include "run/own_kernels.hpp"
#include "search/asking.hpp"

namespace kerf {
namespace {

using Mind = Result<std::unique_ptr<Proposer>>;

Mind own(const MindInputs& inputs) { return make_own_kernels(inputs.kernels); }

Mind builtin(const MindInputs& inputs) {
  KERF_TRY(auto synthesiser,
           synth::Synthesiser::create(inputs.task, inputs.target, inputs.dialect, inputs.facts, inputs.rates));
  return synth::make_builtin_proposer(std::move(synthesiser), foreseen_cell);
}

// A new mind is a folder under propose/ and one entry here.
constexpr std::array kMinds{own, builtin};

}  // namespace

Result<std::vector<std::unique_ptr<Proposer>>> make_minds(const MindInputs& inputs) {
  std::vector<std::unique_ptr<Proposer>> minds;
  for (const auto make : kMinds) {
    KERF_TRY(auto mind, make(inputs));
    minds.push_back(std::move(mind));
  }
  return minds;
}

}  // namespace kerf
