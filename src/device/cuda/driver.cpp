#include "device/cuda/driver.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

namespace kerf::cuda {
namespace {

template <class F>
Status bind(void* library, const char* name, F& function, bool required = true) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  if (!function && required) {
    return fail(Errc::unavailable,
                fmt::format("the NVIDIA driver has no function {}: it is too old (need 11.0 or later)", name));
  }
  return {};
}

}  // namespace

std::string Driver::describe(const char* call, int error) const {
  const char* name = nullptr;
  const char* words = nullptr;
  if (cuGetErrorName(error, &name) != kSuccess || !name) name = "unknown error";
  if (cuGetErrorString(error, &words) != kSuccess || !words) words = "no description";
  return fmt::format("{}: {} ({}, error {})", call, name, words, error);
}

Result<Driver> open_driver(const std::string& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle) return fail(Errc::unavailable, fmt::format("no NVIDIA driver: {}", ::dlerror()));
  Driver driver;
#define KERF_BIND(name) KERF_TRY_VOID(bind(handle, #name, driver.name))
  KERF_BIND(cuInit);
  KERF_BIND(cuGetErrorName);
  KERF_BIND(cuGetErrorString);
  KERF_BIND(cuDriverGetVersion);
  KERF_BIND(cuDeviceGetCount);
  KERF_BIND(cuDeviceGet);
  KERF_BIND(cuDeviceGetName);
  KERF_BIND(cuDeviceGetAttribute);
  KERF_BIND(cuDeviceTotalMem_v2);
  KERF_BIND(cuDevicePrimaryCtxRetain);
  KERF_BIND(cuCtxSetCurrent);
  KERF_BIND(cuCtxSynchronize);
  KERF_BIND(cuMemGetInfo_v2);
  KERF_BIND(cuMemAlloc_v2);
  KERF_BIND(cuMemFree_v2);
  KERF_BIND(cuMemHostAlloc);
  KERF_BIND(cuMemHostRegister_v2);
  KERF_BIND(cuMemcpyHtoDAsync_v2);
  KERF_BIND(cuMemcpyDtoHAsync_v2);
  KERF_BIND(cuMemsetD8Async);
  KERF_BIND(cuStreamCreate);
  KERF_BIND(cuStreamSynchronize);
  KERF_BIND(cuEventCreate);
  KERF_BIND(cuEventRecord);
  KERF_BIND(cuEventElapsedTime);
  KERF_BIND(cuModuleLoadData);
  KERF_BIND(cuModuleUnload);
  KERF_BIND(cuModuleGetFunction);
  KERF_BIND(cuFuncGetAttribute);
  KERF_BIND(cuFuncSetAttribute);
  KERF_BIND(cuLaunchKernel);
#undef KERF_BIND
  KERF_TRY_VOID(bind(handle, "cuCtxResetPersistingL2Cache", driver.cuCtxResetPersistingL2Cache, false));
  KERF_TRY_VOID(bind(handle, "cuFuncGetParamInfo", driver.cuFuncGetParamInfo, false));
  return driver;
}

}  // namespace kerf::cuda
