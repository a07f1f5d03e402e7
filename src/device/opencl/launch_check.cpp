#include "device/opencl/launch_check.hpp"

#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "base/text.hpp"

namespace kerf::opencl {
namespace {

using arena::LaunchNumbers;

std::string argument_text(const ClSession& session, cl_kernel kernel, cl_uint index, cl_kernel_arg_info what) {
  std::size_t size = 0;
  if (session.cl.clGetKernelArgInfo(kernel, index, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  session.cl.clGetKernelArgInfo(kernel, index, what, size, text.data(), nullptr);
  return text.c_str();
}

Status check_arguments(const ClSession& session, cl_kernel kernel, const LaunchNumbers& launch) {
  cl_uint count = 0;
  session.cl.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr);
  if (count != launch.args.size()) {
    return fail(Errc::invalid_input, fmt::format("kernel '{}' takes {} arguments, the launch passes {}", launch.kernel,
                                                 count, launch.args.size()));
  }
  for (cl_uint i = 0; i < count; ++i) {
    cl_kernel_arg_address_qualifier address = CL_KERNEL_ARG_ADDRESS_GLOBAL;
    const auto known =
        session.cl.clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, nullptr);
    if (known != CL_SUCCESS || address == CL_KERNEL_ARG_ADDRESS_GLOBAL || address == CL_KERNEL_ARG_ADDRESS_CONSTANT)
      continue;
    const auto name = fmt::format("argument {} of kernel '{}' ({} {})", i + 1, launch.kernel,
                                  argument_text(session, kernel, i, CL_KERNEL_ARG_TYPE_NAME),
                                  argument_text(session, kernel, i, CL_KERNEL_ARG_NAME));
    if (address == CL_KERNEL_ARG_ADDRESS_LOCAL) {
      return fail(Errc::invalid_input,
                  name + " is local memory; declare local arrays inside the kernel, a launch passes buffers only");
    }
    return fail(Errc::invalid_input,
                name + " is a plain value; a launch passes buffers only (shape symbols and tunables are constants)");
  }
  return {};
}

Status check_block(const ClSession& session, cl_kernel kernel, const LaunchNumbers& launch) {
  const auto& cl = session.cl;
  std::array<std::size_t, 3> limits{};
  cl.clGetDeviceInfo(session.device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof limits, limits.data(), nullptr);
  std::size_t most = device_value<std::size_t>(cl, session.device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  std::size_t of_kernel = 0;
  if (cl.clGetKernelWorkGroupInfo(kernel, session.device, CL_KERNEL_WORK_GROUP_SIZE, sizeof of_kernel, &of_kernel,
                                  nullptr) == CL_SUCCESS &&
      of_kernel > 0) {
    most = std::min(most, of_kernel);
  }
  const auto shape = fmt::format("{}x{}x{}", launch.block[0], launch.block[1], launch.block[2]);
  std::size_t items = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto extent = static_cast<std::size_t>(launch.block[d]);
    if (launch.block[d] < 1) return fail(Errc::invalid_input, fmt::format("work-group {} is empty", shape));
    if (extent > limits[d] || extent > most / items) {
      return fail(Errc::invalid_input, fmt::format("work-group {} of kernel '{}' is too large: the device takes {} "
                                                   "work-items a group here, at most {}x{}x{}",
                                                   shape, launch.kernel, most, limits[0], limits[1], limits[2]));
    }
    items *= extent;
  }
  std::array<std::size_t, 3> required{};
  cl.clGetKernelWorkGroupInfo(kernel, session.device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required,
                              required.data(), nullptr);
  for (std::size_t d = 0; d < 3; ++d) {
    if (required[0] != 0 && required[d] != static_cast<std::size_t>(launch.block[d])) {
      return fail(Errc::invalid_input,
                  fmt::format("kernel '{}' requires work-groups of {}x{}x{} (reqd_work_group_size), the launch has {}",
                              launch.kernel, required[0], required[1], required[2], shape));
    }
  }
  return {};
}

Status check_resources(const ClSession& session, cl_kernel kernel, const LaunchNumbers& launch) {
  cl_ulong needed = 0;
  session.cl.clGetKernelWorkGroupInfo(kernel, session.device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof needed, &needed,
                                      nullptr);
  const auto available = device_value<cl_ulong>(session.cl, session.device, CL_DEVICE_LOCAL_MEM_SIZE);
  if (needed > available) {
    return fail(Errc::invalid_input, fmt::format("kernel '{}' uses {} bytes of local memory, the device has {}",
                                                 launch.kernel, needed, available));
  }
  // Drivers count work-groups in 32 bits: larger grids would run in part.
  std::uint64_t groups = 1;
  for (const auto extent : launch.grid) {
    if (extent < 1) {
      return fail(Errc::invalid_input, fmt::format("kernel '{}' is launched with an empty grid of {}x{}x{} work-groups",
                                                   launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2]));
    }
    if (static_cast<std::uint64_t>(extent) > std::numeric_limits<std::int32_t>::max() / groups) {
      return fail(Errc::invalid_input,
                  fmt::format("kernel '{}' is launched with {}x{}x{} work-groups; the limit is 2^31 - 1", launch.kernel,
                              launch.grid[0], launch.grid[1], launch.grid[2]));
    }
    groups *= static_cast<std::uint64_t>(extent);
  }
  return {};
}

}  // namespace

Result<cl_kernel> create_checked_kernel(const ClSession& session, cl_program program, const LaunchNumbers& launch) {
  cl_int error = CL_SUCCESS;
  const cl_kernel kernel = session.cl.clCreateKernel(program, launch.kernel.c_str(), &error);
  if (error == CL_INVALID_KERNEL_NAME) {
    return fail(Errc::not_found, fmt::format("the program has no kernel '{}'", launch.kernel));
  }
  if (error != CL_SUCCESS) {
    return fail(Errc::tool_failed,
                fmt::format("kernel '{}' cannot be created: {}", launch.kernel, cl_error_name(error)));
  }
  KERF_TRY_VOID(check_arguments(session, kernel, launch));
  KERF_TRY_VOID(check_block(session, kernel, launch));
  KERF_TRY_VOID(check_resources(session, kernel, launch));
  return kernel;
}

}  // namespace kerf::opencl
