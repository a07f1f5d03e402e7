#pragma once
// A program as it was loaded into a context: one module, or one for each of its parts.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/cuda/driver.hpp"

namespace kerf::cuda {

class Modules {
 public:
  /// `bytes` of an artifact of kind `cubin`. What was loaded before an error stays until `unload`.
  Status load(const Driver& driver, std::string_view bytes);
  Result<CUfunction> function(const Driver& driver, const std::string& kernel) const;
  void unload(const Driver& driver);

 private:
  std::vector<CUmodule> modules_;
};

}  // namespace kerf::cuda
