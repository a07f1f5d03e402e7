#pragma once
// The OpenCL loader, opened at run time, and the few calls every OpenCL worker makes. Private to the OpenCL rooms: it
// shows the CL types, so only worker sources include it.

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace kerf::opencl {

// clang-format off
#define KERF_CL_FUNCTIONS(X)                                                                                  \
  X(clGetPlatformIDs)                                                                                         \
  X(clGetPlatformInfo)                                                                                        \
  X(clGetDeviceIDs)                                                                                           \
  X(clGetDeviceInfo) X(clCreateContext) X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue)  \
      X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clBuildProgram) X(clGetProgramBuildInfo)    \
          X(clGetProgramInfo) X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel) X(clGetKernelInfo)     \
              X(clGetKernelArgInfo) X(clGetKernelWorkGroupInfo) X(clSetKernelArg) X(clCreateBuffer)           \
                  X(clCreateSubBuffer) X(clReleaseMemObject) X(clEnqueueNDRangeKernel) X(clEnqueueReadBuffer) \
                      X(clEnqueueWriteBuffer) X(clFinish) X(clGetEventProfilingInfo) X(clReleaseEvent)
// clang-format on

/// The functions of libOpenCL. The library stays open until the process ends.
struct ClFunctions {
#define KERF_CL_MEMBER(name) decltype(&::name) name = nullptr;
  KERF_CL_FUNCTIONS(KERF_CL_MEMBER)
#undef KERF_CL_MEMBER
};

/// Errc::unavailable with what to install when there is no loader.
Result<ClFunctions> open_cl_library();

/// "CL_INVALID_WORK_GROUP_SIZE (-54)".
std::string cl_error_name(cl_int code);

/// What every worker holds: one device of the flat list over all platforms, with a context and an in-order queue that
/// keeps event times. Objects live until the process ends: a worker is short and is usually killed.
struct ClSession {
  ClFunctions cl;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  std::string platform_name;
  bool is_cpu = false;
  bool is_pocl = false;
};
Result<std::vector<std::pair<cl_platform_id, cl_device_id>>> list_devices(const ClFunctions& cl);
Result<ClSession> open_session(int device_index);

std::string platform_text(const ClFunctions& cl, cl_platform_id platform, cl_platform_info what);
std::string device_text(const ClFunctions& cl, cl_device_id device, cl_device_info what);
template <class T>
T device_value(const ClFunctions& cl, cl_device_id device, cl_device_info what) {
  T value{};
  cl.clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return value;
}
std::string build_log(const ClSession& session, cl_program program);

/// Claims a folder below `base` that no living process uses, empties it and returns its path. The claim is a file lock
/// that ends with the process, so the number of folders is that of processes at one time. Drivers keep their files
/// there.
Result<std::string> claim_private_folder(const std::string& base);

}  // namespace kerf::opencl
