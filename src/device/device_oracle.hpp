#pragma once
// Data sets that are made where they are used, for tensors too large to be drawn and answered on the host. A capability
// that some benches have besides Bench: ask for it with dynamic_cast.

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "model/artifact.hpp"
#include "model/candidate.hpp"
#include "model/task.hpp"
#include "oracle/dataset.hpp"
#include "oracle/inputs.hpp"

namespace kerf {

/// One input, drawn as oracle::draw draws it: the same values.
struct DeviceDraw {
  oracle::InputDraw input;
  std::optional<InputDistribution> given;  ///< replaces the pattern; `b` is the evaluated highest value of integers
};

/// How a data set is made. The oracle is trusted code that computes in double precision. Its launches name the task's
/// inputs; for an output y the buffers "y" (f64 where the output is a float, else the output's own dtype) and "y!bound"
/// (f64); and its own scratch.
struct DeviceRecipe {
  std::vector<DeviceDraw> inputs;  ///< one per input, in layout order
  Artifact oracle;
  LaunchPlan plan;
  Bindings constants;
  std::chrono::milliseconds limit{120000};  ///< for running the oracle
};

class DeviceOracle {
 public:
  virtual ~DeviceOracle() = default;

  /// Makes the data set `data.id` on the device. From then on stage and check accept `data`, whose tensors stay empty;
  /// the recipe is kept, and followed again when the data set had to give way or the worker was replaced.
  virtual Status make_on_device(const oracle::DataSet& data, DeviceRecipe recipe) = 0;

  /// The data set is no longer needed.
  virtual void forget(std::uint64_t id) = 0;

  /// What was spent on making data sets so far, those included that were made again.
  struct Spent {
    int made = 0;  ///< data sets
    double ms = 0;
  };
  virtual Spent spent() const = 0;
};

}  // namespace kerf
