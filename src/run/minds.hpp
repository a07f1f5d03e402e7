#pragma once
// The list of minds that a search asks for kernels.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "codegen/dialect.hpp"
#include "device/device.hpp"
#include "model/candidate.hpp"
#include "model/task.hpp"
#include "propose/proposer.hpp"

namespace kerf {

/// What minds are made from. Borrowed for the call.
struct MindInputs {
  const Task& task;
  const std::string& target;
  const codegen::DialectTraits& dialect;
  const DeviceFacts& facts;
  const std::vector<Candidate>& kernels;  ///< that the user gave
  std::map<std::string, double> rates;    ///< measured peaks of the device, FLOP/s by unit; empty: not calibrated
};

/// Every mind, in the order in which they are asked for first guesses.
Result<std::vector<std::unique_ptr<Proposer>>> make_minds(const MindInputs& inputs);

}  // namespace kerf
