#include "opencl/cl_library.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "opencl/opencl_options.hpp"

namespace kerf::opencl {

Result<ClFunctions> open_cl_library() {
  void* library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(Errc::unavailable, fmt::format("libOpenCL.so.1 is not here: {}", kOpenclRemedy));
  ClFunctions cl;
#define KERF_CL_LOAD(name)                                                \
  cl.name = reinterpret_cast<decltype(cl.name)>(::dlsym(library, #name)); \
  if (!cl.name) return fail(Errc::unavailable, "libOpenCL.so.1 lacks " #name " (OpenCL 1.2)");
  KERF_CL_FUNCTIONS(KERF_CL_LOAD)
#undef KERF_CL_LOAD
  return cl;
}

std::string cl_error_name(cl_int code) {
#define KERF_CL_NAME(name) \
  case name: return fmt::format(#name " ({})", code)
  switch (code) {
    KERF_CL_NAME(CL_DEVICE_NOT_FOUND);
    KERF_CL_NAME(CL_DEVICE_NOT_AVAILABLE);
    KERF_CL_NAME(CL_COMPILER_NOT_AVAILABLE);
    KERF_CL_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
    KERF_CL_NAME(CL_OUT_OF_RESOURCES);
    KERF_CL_NAME(CL_OUT_OF_HOST_MEMORY);
    KERF_CL_NAME(CL_BUILD_PROGRAM_FAILURE);
    KERF_CL_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET);
    KERF_CL_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    KERF_CL_NAME(CL_INVALID_VALUE);
    KERF_CL_NAME(CL_INVALID_DEVICE);
    KERF_CL_NAME(CL_INVALID_HOST_PTR);
    KERF_CL_NAME(CL_INVALID_MEM_OBJECT);
    KERF_CL_NAME(CL_INVALID_BINARY);
    KERF_CL_NAME(CL_INVALID_BUILD_OPTIONS);
    KERF_CL_NAME(CL_INVALID_PROGRAM);
    KERF_CL_NAME(CL_INVALID_PROGRAM_EXECUTABLE);
    KERF_CL_NAME(CL_INVALID_KERNEL_NAME);
    KERF_CL_NAME(CL_INVALID_KERNEL);
    KERF_CL_NAME(CL_INVALID_ARG_INDEX);
    KERF_CL_NAME(CL_INVALID_ARG_VALUE);
    KERF_CL_NAME(CL_INVALID_ARG_SIZE);
    KERF_CL_NAME(CL_INVALID_KERNEL_ARGS);
    KERF_CL_NAME(CL_INVALID_WORK_DIMENSION);
    KERF_CL_NAME(CL_INVALID_WORK_GROUP_SIZE);
    KERF_CL_NAME(CL_INVALID_WORK_ITEM_SIZE);
    KERF_CL_NAME(CL_INVALID_BUFFER_SIZE);
    KERF_CL_NAME(CL_INVALID_GLOBAL_WORK_SIZE);
    case -1001: return "CL_PLATFORM_NOT_FOUND_KHR (-1001)";
    default: return fmt::format("OpenCL error {}", code);
  }
#undef KERF_CL_NAME
}

std::string platform_text(const ClFunctions& cl, cl_platform_id platform, cl_platform_info what) {
  std::size_t size = 0;
  if (cl.clGetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (cl.clGetPlatformInfo(platform, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return text.c_str();
}

std::string device_text(const ClFunctions& cl, cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  if (cl.clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (cl.clGetDeviceInfo(device, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return text.c_str();
}

Result<std::vector<std::pair<cl_platform_id, cl_device_id>>> list_devices(const ClFunctions& cl) {
  cl_uint platform_count = 0;
  const cl_int found = cl.clGetPlatformIDs(0, nullptr, &platform_count);
  if (found != CL_SUCCESS || platform_count == 0) {
    return fail(Errc::unavailable, fmt::format("no OpenCL platform is installed: {}", kOpenclRemedy));
  }
  std::vector<cl_platform_id> platforms(platform_count);
  cl.clGetPlatformIDs(platform_count, platforms.data(), nullptr);
  std::vector<std::pair<cl_platform_id, cl_device_id>> all;
  for (const auto platform : platforms) {
    cl_uint count = 0;
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(count);
    cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    for (const auto device : devices) all.emplace_back(platform, device);
  }
  return all;
}

Result<ClSession> open_session(int device_index) {
  ClSession session;
  KERF_TRY(session.cl, open_cl_library());
  KERF_TRY(const auto devices, list_devices(session.cl));
  if (device_index < 0 || static_cast<std::size_t>(device_index) >= devices.size()) {
    return fail(Errc::not_found, fmt::format("opencl:{} does not exist; there are {} OpenCL devices (kerf doctor)",
                                             device_index, devices.size()));
  }
  std::tie(session.platform, session.device) = devices[static_cast<std::size_t>(device_index)];
  session.platform_name = platform_text(session.cl, session.platform, CL_PLATFORM_NAME);
  session.is_pocl = session.platform_name == "Portable Computing Language";
  session.is_cpu = device_value<cl_device_type>(session.cl, session.device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
  cl_int error = CL_SUCCESS;
  session.context = session.cl.clCreateContext(nullptr, 1, &session.device, nullptr, nullptr, &error);
  if (error != CL_SUCCESS) return fail(Errc::unavailable, "clCreateContext: " + cl_error_name(error));
  session.queue = session.cl.clCreateCommandQueue(session.context, session.device, CL_QUEUE_PROFILING_ENABLE, &error);
  if (error != CL_SUCCESS) return fail(Errc::unavailable, "clCreateCommandQueue: " + cl_error_name(error));
  return session;
}

std::string build_log(const ClSession& session, cl_program program) {
  std::size_t size = 0;
  session.cl.clGetProgramBuildInfo(program, session.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  if (size > 0) {
    session.cl.clGetProgramBuildInfo(program, session.device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  }
  return log.c_str();
}

Result<std::string> claim_private_folder(const std::string& base) {
  constexpr int kMostFolders = 4096;
  for (int i = 0; i < kMostFolders; ++i) {
    const auto folder = std::filesystem::path(base) / fmt::format("worker-{}", i);
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    // The lock file lies beside the folder, so that emptying the folder does not remove it. It is never closed.
    const int lock = ::open((folder.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0) return fail(Errc::io, fmt::format("cannot write in {}: {}", base, std::strerror(errno)));
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      ::close(lock);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      std::filesystem::remove_all(entry.path(), ignored);
    }
    return folder.string();
  }
  return fail(Errc::io, fmt::format("no free folder below {}", base));
}

}  // namespace kerf::opencl
