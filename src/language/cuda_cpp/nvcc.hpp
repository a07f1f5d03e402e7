#pragma once
// The fallback where no NVRTC is found: one `nvcc -cubin` process a compile, ten times slower.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "language/cuda_cpp/nvrtc_pool.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf {

/// Thread-safe. Borrows the sandbox.
class NvccCompiler {
 public:
  NvccCompiler(std::filesystem::path nvcc, Sandbox& sandbox, std::int64_t memory_bytes);

  Result<std::string> version() const;  ///< "release 13.0, V13.0.88"
  Result<NvrtcOutcome> compile(const std::string& source, const std::string& arch,
                               std::chrono::milliseconds limit) const;

 private:
  SandboxCommand command(const std::filesystem::path& folder) const;

  std::filesystem::path nvcc_;
  Sandbox& sandbox_;
  std::int64_t memory_bytes_;
};

}  // namespace kerf
