#pragma once
// A language: source to artifact, by an outside compiler. Knows nothing of tasks, devices or timing.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "codegen/naive.hpp"
#include "ir/dim.hpp"
#include "model/artifact.hpp"

namespace kerf {

struct CompileRequest {
  std::string source;  ///< the whole candidate file
  Bindings constants;  ///< shape symbols and tunables: visible in the code as integer constants
  std::string arch;    ///< DeviceFacts::arch of the device it is for
  std::vector<std::string>
      entry_points;  ///< kernels the launch plan names; missing ones fail the compile with a clear log
  std::chrono::milliseconds time_limit{20000};
};

/// A small kernel whose rate is a device peak; see measure/calibrate.
struct CalibrationKernel {
  std::string peak;    ///< "copy", "fma_f32", "fma_f64", "tensor_f16", "tensor_tf32", "tensor_bf16"
  std::string source;  ///< candidate file with one input `x` and one output `y` of f32[n] (n a shape symbol)
  std::int64_t n = 0;  ///< extent to use
  double work = 0;     ///< bytes (copy) or FLOPs (others) of one call at that extent
};

class Language {
 public:
  virtual ~Language() = default;
  virtual std::string_view name() const = 0;  ///< "cpp", "opencl_c", "cuda_cpp"; stored, so never renamed
  virtual std::string version() const = 0;    ///< compiler, its version and flags; part of every cache key
  virtual const codegen::DialectTraits& dialect() const = 0;  ///< how the naive kernel is written in it
  /// An artifact, or the compiler output. Thread-safe; calls run side by side. An Error means the compiler itself
  /// could not be run, never that the source is bad (a compile past its time limit is a CompileFailed).
  virtual Result<CompileOutcome> compile(const CompileRequest& request) = 0;
  virtual std::vector<CalibrationKernel> calibration_kernels(const std::string& arch) const = 0;
};

}  // namespace kerf
