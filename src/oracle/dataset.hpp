#pragma once
// Inputs together with what the outputs must be. Made by the judge before any candidate is loaded, never mapped into a
// candidate's process (the inputs are copied in; expected values and bounds stay here, or masked on a device).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/tensor.hpp"
#include "oracle/compare.hpp"
#include "oracle/honest.hpp"
#include "oracle/inputs.hpp"

namespace kerf::oracle {

struct DataSet {
  std::uint64_t id = 0;                  ///< unique within the process: cache key for uploads
  std::string shape, distribution;       ///< names, for evidence
  bool unusual = false;                  ///< its magnitudes are rare in use: kernels may take other ways through it
  std::optional<DataDraw> drawn;         ///< how the inputs were drawn: they can be drawn again
  std::vector<ir::HostTensor> inputs;    ///< in task order, storage dtype
  std::vector<ir::HostTensor> expected;  ///< one per output: f64 for floats, i64 for integers, bool
  std::vector<ir::HostTensor> bound;     ///< one per output: f64 absolute error bound; +inf: not compared
  bool nan_is_free = false;              ///< where NaN is expected, anything is accepted (see docs/verification.md)
  std::vector<HonestErrors> honest;      ///< one per output: what a plain implementation loses; empty: not known
  double compared = 1;                   ///< least share of an output's elements that kernels are held to
  std::vector<Allowance> allowances;     ///< one per output, following from `honest`; empty: the bounds alone decide

  Allowance allowance(std::size_t output) const {
    return output < allowances.size() ? allowances[output] : Allowance{};
  }
};

}  // namespace kerf::oracle
