#pragma once
// The CUDA driver, opened at run time. Only the functions used, under their exported names. Worker side only.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace kerf::cuda {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = void*;
using CUmodule = void*;
using CUfunction = void*;
using CUstream = void*;
using CUevent = void*;

constexpr int kSuccess = 0;
constexpr int kOutOfMemory = 2;

// CU_DEVICE_ATTRIBUTE_*
constexpr int kMaxThreadsPerBlock = 1;
constexpr int kMultiprocessors = 16;
constexpr int kL2Bytes = 38;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
constexpr int kMaxSharedOptIn = 97;
// CU_FUNC_ATTRIBUTE_*
constexpr int kFunctionMaxThreads = 0;
constexpr int kFunctionSharedBytes = 1;
constexpr int kFunctionLocalBytes = 3;
constexpr int kFunctionRegisters = 4;
constexpr int kFunctionMaxDynamicShared = 8;

struct Driver {
  int (*cuInit)(unsigned) = nullptr;
  int (*cuGetErrorName)(int, const char**) = nullptr;
  int (*cuGetErrorString)(int, const char**) = nullptr;
  int (*cuDriverGetVersion)(int*) = nullptr;
  int (*cuDeviceGetCount)(int*) = nullptr;
  int (*cuDeviceGet)(CUdevice*, int) = nullptr;
  int (*cuDeviceGetName)(char*, int, CUdevice) = nullptr;
  int (*cuDeviceGetAttribute)(int*, int, CUdevice) = nullptr;
  int (*cuDeviceTotalMem_v2)(std::size_t*, CUdevice) = nullptr;
  int (*cuDevicePrimaryCtxRetain)(CUcontext*, CUdevice) = nullptr;
  int (*cuCtxSetCurrent)(CUcontext) = nullptr;
  int (*cuCtxSynchronize)() = nullptr;
  int (*cuCtxResetPersistingL2Cache)() = nullptr;  ///< may be absent
  int (*cuMemGetInfo_v2)(std::size_t*, std::size_t*) = nullptr;
  int (*cuMemAlloc_v2)(CUdeviceptr*, std::size_t) = nullptr;
  int (*cuMemFree_v2)(CUdeviceptr) = nullptr;
  int (*cuMemHostAlloc)(void**, std::size_t, unsigned) = nullptr;
  int (*cuMemHostRegister_v2)(void*, std::size_t, unsigned) = nullptr;
  int (*cuMemcpyHtoDAsync_v2)(CUdeviceptr, const void*, std::size_t, CUstream) = nullptr;
  int (*cuMemcpyDtoHAsync_v2)(void*, CUdeviceptr, std::size_t, CUstream) = nullptr;
  int (*cuMemsetD8Async)(CUdeviceptr, unsigned char, std::size_t, CUstream) = nullptr;
  int (*cuStreamCreate)(CUstream*, unsigned) = nullptr;
  int (*cuStreamSynchronize)(CUstream) = nullptr;
  int (*cuEventCreate)(CUevent*, unsigned) = nullptr;
  int (*cuEventRecord)(CUevent, CUstream) = nullptr;
  int (*cuEventElapsedTime)(float*, CUevent, CUevent) = nullptr;
  int (*cuModuleLoadData)(CUmodule*, const void*) = nullptr;
  int (*cuModuleUnload)(CUmodule) = nullptr;
  int (*cuModuleGetFunction)(CUfunction*, CUmodule, const char*) = nullptr;
  int (*cuFuncGetAttribute)(int*, int, CUfunction) = nullptr;
  int (*cuFuncSetAttribute)(CUfunction, int, int) = nullptr;
  int (*cuFuncGetParamInfo)(CUfunction, std::size_t, std::size_t*, std::size_t*) = nullptr;  ///< may be absent
  int (*cuLaunchKernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void**, void**) = nullptr;

  /// "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
  std::string describe(const char* call, int error) const;
};

/// Opens the library and binds every function; names the missing one otherwise. Does not call cuInit.
Result<Driver> open_driver(const std::string& library);

}  // namespace kerf::cuda

/// Calls a driver function; returns an Error with its name and the driver's words when it fails.
#define KERF_CUDA(driver, function, ...)                                                                          \
  do {                                                                                                            \
    const int kerf_cuda_error_ = (driver).function(__VA_ARGS__);                                                  \
    if (kerf_cuda_error_ != ::kerf::cuda::kSuccess) {                                                             \
      return ::kerf::fail(                                                                                        \
          kerf_cuda_error_ == ::kerf::cuda::kOutOfMemory ? ::kerf::Errc::unavailable : ::kerf::Errc::tool_failed, \
          (driver).describe(#function, kerf_cuda_error_));                                                        \
    }                                                                                                             \
  } while (false)
