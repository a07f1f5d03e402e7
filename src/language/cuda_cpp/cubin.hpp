#pragma once
// What a cubin (an ELF file for a GPU) says about itself, read without a GPU and without NVIDIA's tools.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/artifact.hpp"

namespace kerf {

struct CubinGlobal {
  std::string symbol;  ///< as linked
  std::int64_t bytes = 0;
  bool constant = false;  ///< __constant__
};

struct CubinContents {
  std::vector<KernelFacts> kernels;  ///< entry points, in file order
  std::vector<CubinGlobal>
      globals;  ///< variables in global or constant memory; whether they are written is not known here
  std::vector<std::string> undefined;  ///< functions that the driver would have to supply: "vprintf", "malloc"
};

/// An error for bytes that are not a well-formed cubin; never reads outside `bytes`.
Result<CubinContents> read_cubin(std::string_view bytes);

/// "k2::counter" for "_ZZ2k2E7counter"; other names as they are.
std::string demangled(const std::string& symbol);

}  // namespace kerf
