#pragma once
// Data sets of shapes that are too large for the host's interpreter: inputs, expected values and bounds are made on the
// device, by the generated double-precision kernel that the conformance suite holds to the interpreter.

#include <memory>

#include "base/result.hpp"
#include "build/build.hpp"
#include "device/device.hpp"
#include "model/task.hpp"
#include "oracle/dataset.hpp"
#include "oracle/inputs.hpp"
#include "oracle/reference.hpp"
#include "target/target.hpp"

namespace kerf {

class DeviceData {
 public:
  /// Null when the shape is small enough for the host or the bench cannot make data itself. Compiles the oracle.
  /// Its bounds are those of `reference`.
  static Result<std::unique_ptr<DeviceData>> open(const Task& task, const oracle::Reference& reference,
                                                  const ShapeSet& shape, Target& target, BuildCache& builds,
                                                  Bench& bench);
  ~DeviceData();

  /// The compiled oracle, or the compiler output; from the build cache when it can be. Of shapes that are small enough
  /// for the host, nothing is compiled and the text is empty.
  struct Compiled {
    Candidate candidate;
    CompileOutcome outcome;
  };
  static Result<Compiled> compile(const Task& task, const oracle::Reference& reference, const ShapeSet& shape,
                                  Target& target, BuildCache& builds);

  Result<oracle::DataSet> make(const oracle::DataDraw& draw);

 private:
  struct Impl;
  explicit DeviceData(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// True when the interpreter would take seconds: many elements or many multiply-adds.
bool too_large_for_the_host(const Task& task, const ShapeSet& shape);

}  // namespace kerf
