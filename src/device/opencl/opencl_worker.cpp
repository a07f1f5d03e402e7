// The worker process of an OpenCL device: one driver, one loaded program. On processors the candidate's code runs in
// this very process, so everything that needs files or processes (the driver's last code generation runs a linker) is
// done before the process is locked down, without running a single instruction of the candidate.

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "device/arena/arena_worker.hpp"
#include "device/opencl/launch_check.hpp"
#include "device/opencl/opencl_device.hpp"
#include "opencl/cl_library.hpp"
#include "sandbox/lockdown.hpp"

namespace kerf {
namespace {

using arena::Buffer;
using arena::LaunchNumbers;
using opencl::cl_error_name;
using opencl::ClSession;

/// A buffer as the device sees it. With memory of its own, `whole` also holds the red zones, and `data` is a part of
/// it.
struct DeviceBuffer {
  const Buffer* host = nullptr;
  cl_mem whole = nullptr;
  cl_mem data = nullptr;
  std::size_t zone_offset = 0;  // of the zone in `whole`
};

/// One launch on one slot, arguments set.
struct PreparedLaunch {
  cl_kernel kernel = nullptr;
  cl_uint dimensions = 1;
  std::array<std::size_t, 3> global{1, 1, 1}, local{1, 1, 1};
};

std::size_t as_size(std::int64_t value) { return static_cast<std::size_t>(value); }

/// PoCL generates different code for grids that are narrower than 65535 work-items (by its own reckoning, which takes
/// the depth from the work-group alone).
bool is_small_grid(const LaunchNumbers& launch) {
  const auto& [bx, by, bz] = launch.block;
  return std::max({bx * launch.grid[0], by * launch.grid[1], bz * bz}) < 65535;
}

/// PoCL's names for the code of a launch, which is different for each work-group size: also those of folders.
constexpr std::string_view kLargeGrid = "-goffs0";
constexpr std::string_view kSmallGrid = "-smallgrid";
std::string pocl_specialisation(const LaunchNumbers& launch, bool small_grid) {
  const auto& [bx, by, bz] = launch.block;
  return fmt::format("{}-{}-{}{}{}", bx, by, bz, kLargeGrid, small_grid ? kSmallGrid : "");
}

class OpenclKernel final : public arena::Kernel {
 public:
  OpenclKernel(int device, std::string folder) : device_(device), base_(std::move(folder)) {}

  Status start() override {
    KERF_TRY(folder_, opencl::claim_private_folder(base_));
    for (const char* name : {"POCL_CACHE_DIR", "TMPDIR", "HOME"}) ::setenv(name, folder_.c_str(), 1);
    KERF_TRY(session_, opencl::open_session(device_));
    if (session_.is_cpu && !session_.is_pocl) return start_threads();
    return {};
  }

  Status load(const arena::Program& program) override {
    if (program.launches.empty())
      return fail(Errc::invalid_input, "an OpenCL candidate needs at least one launch: line");
    KERF_TRY_VOID(build(program.artifact));
    for (const auto& launch : program.launches) {
      KERF_TRY(const cl_kernel checked, opencl::create_checked_kernel(session_, program_, launch));
      session_.cl.clReleaseKernel(checked);
    }
    KERF_TRY_VOID(create_buffers(program));
    KERF_TRY_VOID(prepare_launches(program));
    if (!session_.is_cpu) return {};  // the candidate runs on the device, not in this process
    if (session_.is_pocl) KERF_TRY_VOID(generate_code(program));
    return lock_down_process();
  }

  Result<double> run(std::span<const int> slots) override {
    Events events(session_.cl);
    for (const int slot : slots) {
      for (const auto& launch : launches_[as_size(slot)]) {
        cl_event* const event = session_.is_cpu ? nullptr : events.next();
        const cl_int error =
            session_.cl.clEnqueueNDRangeKernel(session_.queue, launch.kernel, launch.dimensions, nullptr,
                                               launch.global.data(), launch.local.data(), 0, nullptr, event);
        if (error != CL_SUCCESS) return fail(Errc::tool_failed, "the launch failed: " + cl_error_name(error));
      }
    }
    const cl_int finished = session_.cl.clFinish(session_.queue);
    if (finished != CL_SUCCESS)
      return fail(Errc::tool_failed, "the kernel failed on the device: " + cl_error_name(finished));
    return events.microseconds();
  }

  Status upload(std::span<const int> slots) override {
    return copy(slots, [this](const DeviceBuffer& b) {
      return session_.cl.clEnqueueWriteBuffer(session_.queue, b.whole, CL_FALSE, b.zone_offset,
                                              as_size(b.host->zone_bytes), b.host->zone, 0, nullptr, nullptr);
    });
  }

  Status download(std::span<const int> slots) override {
    return copy(slots, [this](const DeviceBuffer& b) {
      return session_.cl.clEnqueueReadBuffer(session_.queue, b.whole, CL_FALSE, b.zone_offset,
                                             as_size(b.host->zone_bytes), b.host->zone, 0, nullptr, nullptr);
    });
  }

 private:
  /// The first and the last event of a batch; the queue is in order.
  class Events {
   public:
    explicit Events(const opencl::ClFunctions& cl) : cl_(cl) {}
    ~Events() {
      for (const auto event : {first_, last_}) {
        if (event) cl_.clReleaseEvent(event);
      }
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    cl_event* next() {
      if (!first_) return &first_;
      if (last_) cl_.clReleaseEvent(last_);
      last_ = nullptr;
      return &last_;
    }
    double microseconds() const {
      if (!first_) return 0;
      cl_ulong begin = 0, end = 0;
      const cl_event last = last_ ? last_ : first_;
      if (cl_.clGetEventProfilingInfo(first_, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr) !=
              CL_SUCCESS ||
          cl_.clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) != CL_SUCCESS ||
          end < begin) {
        return 0;
      }
      return static_cast<double>(end - begin) * 1e-3;
    }

   private:
    const opencl::ClFunctions& cl_;
    cl_event first_ = nullptr, last_ = nullptr;
  };

  Status build(std::string_view artifact) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(artifact.data());
    const std::size_t size = artifact.size();
    cl_int status = CL_SUCCESS, error = CL_SUCCESS;
    program_ =
        session_.cl.clCreateProgramWithBinary(session_.context, 1, &session_.device, &size, &bytes, &status, &error);
    // PoCL keeps the arguments' names in its binaries, but shows them only when asked.
    const char* options = session_.is_pocl ? "-cl-kernel-arg-info" : "";
    if (error == CL_SUCCESS)
      error = session_.cl.clBuildProgram(program_, 1, &session_.device, options, nullptr, nullptr);
    if (error == CL_SUCCESS) return {};
    const auto log = program_ ? opencl::build_log(session_, program_) : "";
    return fail(Errc::invalid_input,
                fmt::format("the driver refuses the program binary: {} {}", cl_error_name(error), trim(log)));
  }

  Result<DeviceBuffer> wrap(const Buffer& host) {
    const std::size_t bytes = std::max<std::size_t>(1, as_size(host.bytes));
    cl_int error = CL_SUCCESS;
    DeviceBuffer buffer;
    buffer.host = &host;
    if (session_.is_cpu) {
      buffer.data = session_.cl.clCreateBuffer(session_.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                                               host.data, &error);
      buffer.whole = buffer.data;
    } else {
      const std::size_t align = std::max(64u, device_align() / 8);
      const auto before = as_size(host.data - host.zone);
      cl_buffer_region region{(before + align - 1) / align * align, bytes};
      buffer.zone_offset = region.origin - before;
      buffer.whole = session_.cl.clCreateBuffer(session_.context, CL_MEM_READ_WRITE,
                                                buffer.zone_offset + as_size(host.zone_bytes), nullptr, &error);
      if (error == CL_SUCCESS) {
        buffer.data = session_.cl.clCreateSubBuffer(buffer.whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                                    &region, &error);
      }
    }
    if (error != CL_SUCCESS) {
      return fail(Errc::unavailable, fmt::format("a buffer of {} bytes: {}", host.bytes, cl_error_name(error)));
    }
    return buffer;
  }

  cl_uint device_align() const {
    return opencl::device_value<cl_uint>(session_.cl, session_.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
  }

  Status create_buffers(const arena::Program& program) {
    for (const auto& slot : program.slots) {
      buffers_.emplace_back();
      for (const auto& host : slot) {
        KERF_TRY(const auto buffer, wrap(host));
        buffers_.back().push_back(buffer);
      }
    }
    for (const auto& host : program.scratch) {
      KERF_TRY(const auto buffer, wrap(host));
      scratch_.push_back(buffer);
    }
    return {};
  }

  /// A kernel object for every launch of every slot, so that a run only enqueues.
  Status prepare_launches(const arena::Program& program) {
    for (const auto& own : buffers_) {
      launches_.emplace_back();
      for (const auto& launch : program.launches) {
        PreparedLaunch prepared;
        cl_int error = CL_SUCCESS;
        prepared.kernel = session_.cl.clCreateKernel(program_, launch.kernel.c_str(), &error);
        for (std::size_t i = 0; error == CL_SUCCESS && i < launch.args.size(); ++i) {
          const auto index = static_cast<std::size_t>(launch.args[i]);
          const auto& buffer = index < own.size() ? own[index] : scratch_[index - own.size()];
          error =
              session_.cl.clSetKernelArg(prepared.kernel, static_cast<cl_uint>(i), sizeof buffer.data, &buffer.data);
        }
        if (error != CL_SUCCESS) {
          return fail(Errc::invalid_input,
                      fmt::format("arguments of kernel '{}': {}", launch.kernel, cl_error_name(error)));
        }
        prepared.dimensions = static_cast<cl_uint>(launch.dimensions);
        for (std::size_t d = 0; d < 3; ++d) {
          prepared.local[d] = as_size(launch.block[d]);
          prepared.global[d] = as_size(launch.block[d] * launch.grid[d]);
        }
        launches_.back().push_back(prepared);
      }
    }
    return {};
  }

  /// PoCL generates machine code when a kernel is first enqueued. Asking for the program's binary with the work-group
  /// sizes of the plan makes it generate, link and open the same code now, and runs nothing.
  Status generate_code(const arena::Program& program) {
    const auto small = std::ranges::count_if(program.launches, is_small_grid);
    const bool mixed = small > 0 && small < static_cast<std::ptrdiff_t>(program.launches.size());
    std::set<std::string> wanted;
    for (const auto& launch : program.launches) wanted.insert(pocl_specialisation(launch, small > 0 && !mixed));
    ::setenv("POCL_BINARY_SPECIALIZE_WG", join({wanted.begin(), wanted.end()}, ",").c_str(), 1);
    std::size_t size = 0;
    const cl_int error = session_.cl.clGetProgramInfo(program_, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
    if (error != CL_SUCCESS) return fail(Errc::tool_failed, "code generation failed: " + cl_error_name(error));
    return mixed ? use_for_small_grids() : Status();
  }

  /// PoCL takes the code for small grids and the code for large ones for the same and makes only the first. The code
  /// for large grids is right for small ones, so a plan with both gets it under both names, opened as PoCL would.
  Status use_for_small_grids() const {
    namespace fs = std::filesystem;
    std::error_code failed;
    std::vector<fs::path> folders;
    for (fs::recursive_directory_iterator i(folder_, failed), end; !failed && i != end; i.increment(failed))
      if (i->is_directory(failed) && i->path().string().ends_with(kLargeGrid)) folders.push_back(i->path());
    for (const auto& folder : folders) {
      const fs::path small = folder.string() + std::string(kSmallGrid);
      if (!failed) fs::copy(folder, small, failed);
      for (fs::directory_iterator i(small, failed), end; !failed && i != end; i.increment(failed))
        if (i->path().extension() == ".so" && ::dlopen(i->path().c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
          return fail(Errc::tool_failed, fmt::format("generated code cannot be opened: {}", ::dlerror()));
    }
    if (failed) return fail(Errc::io, "generated code cannot be copied: " + failed.message());
    return {};
  }

  /// Drivers start their threads with the first launch; a trivial kernel of our own has them started before the
  /// lockdown.
  Status start_threads() {
    const char* source = "__kernel void warm(__global int* x) { x[get_global_id(0)] = 1; }";
    cl_int error = CL_SUCCESS;
    const cl_program program = session_.cl.clCreateProgramWithSource(session_.context, 1, &source, nullptr, &error);
    if (error == CL_SUCCESS) error = session_.cl.clBuildProgram(program, 1, &session_.device, "", nullptr, nullptr);
    const cl_kernel kernel = error == CL_SUCCESS ? session_.cl.clCreateKernel(program, "warm", &error) : nullptr;
    const std::size_t items = 1 << 16;
    const cl_mem buffer = error == CL_SUCCESS ? session_.cl.clCreateBuffer(session_.context, CL_MEM_READ_WRITE,
                                                                           items * 4, nullptr, &error)
                                              : nullptr;
    if (error == CL_SUCCESS) error = session_.cl.clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    if (error == CL_SUCCESS) {
      error =
          session_.cl.clEnqueueNDRangeKernel(session_.queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr);
    }
    if (error == CL_SUCCESS) error = session_.cl.clFinish(session_.queue);
    if (error != CL_SUCCESS) return fail(Errc::unavailable, "a trivial kernel does not run: " + cl_error_name(error));
    return {};
  }

  Status lock_down_process() {
    LockdownPolicy policy;
    policy.stage = LockdownPolicy::Stage::computing;
    policy.on_forbidden = arena::note_forbidden;
    // PoCL looks once for the file of the code it has already opened; drivers time their commands.
    policy.also_allowed = {"access",       "faccessat", "faccessat2", "clock_gettime", "clock_getres",
                           "gettimeofday", "sysinfo",   "getcpu",     "getrandom"};
    // A kernel without seccomp is reported by sandbox_abilities and the other walls stand; every other failure ends the
    // worker.
    auto locked = lock_down(policy);
    return locked || locked.error().code == Errc::unavailable ? Status() : locked;
  }

  template <class Copy>
  Status copy(std::span<const int> slots, Copy&& enqueue) {
    cl_int error = CL_SUCCESS;
    const auto all = [&](const std::vector<DeviceBuffer>& buffers) {
      for (const auto& buffer : buffers) {
        if (error == CL_SUCCESS) error = enqueue(buffer);
      }
    };
    for (const int slot : slots) all(buffers_[as_size(slot)]);
    all(scratch_);
    const cl_int finished = session_.cl.clFinish(session_.queue);
    if (error == CL_SUCCESS) error = finished;
    if (error != CL_SUCCESS) return fail(Errc::tool_failed, "copying to or from the device: " + cl_error_name(error));
    return {};
  }

  int device_;
  std::string base_, folder_;  // of all workers, of this one
  ClSession session_;
  cl_program program_ = nullptr;
  std::vector<std::vector<DeviceBuffer>> buffers_;  // per slot
  std::vector<DeviceBuffer> scratch_;
  std::vector<std::vector<PreparedLaunch>> launches_;  // per slot
};

}  // namespace

int opencl_worker_main(std::span<const std::string> args) {
  if (args.size() != 2) return 2;
  OpenclKernel kernel(std::atoi(args[0].c_str()), args[1]);
  return arena::serve(kernel);
}

}  // namespace kerf
