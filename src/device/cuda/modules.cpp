#include "device/cuda/modules.hpp"

#include <fmt/format.h>

#include "model/cubin_images.hpp"

namespace kerf::cuda {

Status Modules::load(const Driver& driver, std::string_view bytes) {
  const auto images = split_images(bytes);
  if (images.empty()) return fail(Errc::invalid_input, "the kernel's images are damaged");
  for (const auto& image : images) {
    CUmodule module = nullptr;
    const int error = driver.cuModuleLoadData(&module, image.data());
    if (error != kSuccess) return fail(Errc::invalid_input, driver.describe("cuModuleLoadData", error));
    modules_.push_back(module);
  }
  return {};
}

Result<CUfunction> Modules::function(const Driver& driver, const std::string& kernel) const {
  int error = kSuccess;
  for (CUmodule module : modules_) {
    CUfunction function = nullptr;
    error = driver.cuModuleGetFunction(&function, module, kernel.c_str());
    if (error == kSuccess) return function;
  }
  return fail(Errc::invalid_input,
              fmt::format("kernel '{}': {}", kernel, driver.describe("cuModuleGetFunction", error)));
}

void Modules::unload(const Driver& driver) {
  for (CUmodule module : modules_) (void)driver.cuModuleUnload(module);
  modules_.clear();
}

}  // namespace kerf::cuda
