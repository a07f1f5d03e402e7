// A CUDA driver without a GPU, for tests: device memory is host memory, a module is a shared object made by g++ from
// CUDA C++ (kernel_shim.hpp), a launch runs its blocks one after another and the threads of a block as fibers that meet
// at barriers. Bad addresses and traps become the errors a GPU gives, and stick to the context as they do there.

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int kOutOfMemory = 2, kInvalidImage = 200, kNotFound = 500, kIllegalAddress = 700, kLaunchFailed = 719;
constexpr std::size_t kMemory = std::size_t{1} << 30;
constexpr std::size_t kStack = 64 << 10;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool done = false;
};

std::map<std::uint64_t, std::size_t> allocations;
std::size_t allocated = 0;
int sticky = 0;  // error of the context
thread_local void* context_in_use = nullptr;
std::vector<Fiber> fibers;
ucontext_t scheduler;
std::size_t current = 0;
sigjmp_buf recovery;
void* function = nullptr;
std::uint64_t arguments[16];
std::vector<std::string> launched;

void fiber_main() {
  using Word = std::uint64_t;
  using Kernel =
      void (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
  const auto* a = arguments;
  reinterpret_cast<Kernel>(function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
                                     a[13], a[14], a[15]);
  fibers[current].done = true;
  swapcontext(&fibers[current].context, &scheduler);
}

void on_bad_address(int) { siglongjmp(recovery, kIllegalAddress); }

struct RecordedLaunch {
  void* kernel;
  std::array<unsigned, 3> grid, block;
  std::vector<std::uint64_t> arguments;
};
void* capturing = nullptr;  // the stream whose launches are recorded
std::vector<RecordedLaunch> captured;

}  // namespace

extern "C" {

int cuLaunchKernel(void* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void* stream, void** parameters, void** extra);

struct uint3 {
  unsigned x, y, z;
};
uint3 kerf_fake_thread, kerf_fake_block, kerf_fake_block_extent, kerf_fake_grid_extent;

void kerf_fake_barrier() {
  const std::size_t me = current;
  swapcontext(&fibers[me].context, &scheduler);
}
void kerf_fake_trap() { siglongjmp(recovery, kLaunchFailed); }
unsigned long long kerf_fake_now() {
  return static_cast<unsigned long long>(std::chrono::steady_clock::now().time_since_epoch().count());
}
/// For tests of the judge's own checks: flips a byte of every allocation of this size.
int kerf_fake_spoil(std::size_t bytes) {
  int spoiled = 0;
  for (const auto& [address, size] : allocations) {
    if (size != bytes) continue;
    reinterpret_cast<unsigned char*>(address)[bytes / 2] ^= 0x40;
    ++spoiled;
  }
  return spoiled;
}
/// What the end of a process does: frees all memory and forgets errors. For tests that share one.
void kerf_fake_end_process() {
  for (const auto& [address, size] : allocations) std::free(reinterpret_cast<void*>(address));
  allocations.clear();
  allocated = 0;
  sticky = 0;
  launched.clear();
}
/// What every function says it uses of local memory.
int kerf_fake_local_bytes = 0;
/// Graphs that were launched.
int kerf_fake_graphs = 0;
/// How often kernels whose names begin so were launched.
int kerf_fake_launches(const char* prefix) {
  int count = 0;
  for (const auto& name : launched) count += name.rfind(prefix, 0) == 0;
  return count;
}
/// Zero bytes in allocations of this size; fresh memory has none.
std::size_t kerf_fake_zeros(std::size_t bytes) {
  std::size_t zeros = 0;
  for (const auto& [address, size] : allocations) {
    const auto* begin = reinterpret_cast<const unsigned char*>(address);
    if (size == bytes) zeros += static_cast<std::size_t>(std::count(begin, begin + bytes, 0));
  }
  return zeros;
}

int cuInit(unsigned) { return 0; }
int cuGetErrorName(int error, const char** name) {
  switch (error) {
    case 0: *name = "CUDA_SUCCESS"; break;
    case kOutOfMemory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case kInvalidImage: *name = "CUDA_ERROR_INVALID_IMAGE"; break;
    case kNotFound: *name = "CUDA_ERROR_NOT_FOUND"; break;
    case kIllegalAddress: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
    case kLaunchFailed: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
    default: *name = "CUDA_ERROR_UNKNOWN"; break;
  }
  return 0;
}
int cuGetErrorString(int, const char** words) {
  *words = "from the fake driver";
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::snprintf(name, static_cast<std::size_t>(size), "Fake GPU");
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  static const std::map<int, int> values{{1, 1024}, {16, 1}, {38, 1 << 20}, {75, 9}, {76, 0}, {97, 232448}};
  const auto it = values.find(attribute);
  *value = it == values.end() ? 0 : it->second;
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = kMemory;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &allocations;
  return 0;
}
int cuCtxSetCurrent(void* context) {
  context_in_use = context;
  return sticky;
}
int cuCtxGetCurrent(void** context) {
  *context = context_in_use;
  return sticky;
}
int cuCtxSynchronize() { return sticky; }
int cuCtxResetPersistingL2Cache() { return sticky; }
int cuMemGetInfo_v2(std::size_t* available, std::size_t* total) {
  *available = kMemory - allocated;
  *total = kMemory;
  return sticky;
}
int cuMemAlloc_v2(unsigned long long* pointer, std::size_t bytes) {
  if (sticky) return sticky;
  if (bytes > kMemory - allocated) return kOutOfMemory;
  void* memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  if (!memory) return kOutOfMemory;
  std::memset(memory, 0xA5, bytes);
  *pointer = reinterpret_cast<std::uint64_t>(memory);
  allocations[*pointer] = bytes;
  allocated += bytes;
  return 0;
}
int cuMemFree_v2(unsigned long long pointer) {
  if (sticky) return sticky;
  allocated -= allocations[pointer];
  allocations.erase(pointer);
  std::free(reinterpret_cast<void*>(pointer));
  return 0;
}
int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  *pointer = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return sticky;
}
int cuMemHostRegister_v2(void*, std::size_t, unsigned) { return sticky; }
int cuMemcpyHtoDAsync_v2(unsigned long long target, const void* source, std::size_t bytes, void*) {
  if (!sticky) std::memcpy(reinterpret_cast<void*>(target), source, bytes);
  return sticky;
}
int cuMemcpyDtoHAsync_v2(void* target, unsigned long long source, std::size_t bytes, void*) {
  if (!sticky) std::memcpy(target, reinterpret_cast<void*>(source), bytes);
  return sticky;
}
int cuMemsetD8Async(unsigned long long target, unsigned char value, std::size_t bytes, void*) {
  if (!sticky) std::memset(reinterpret_cast<void*>(target), value, bytes);
  return sticky;
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = &allocations;
  return sticky;
}
int cuStreamDestroy_v2(void*) { return sticky; }
int cuStreamIsCapturing(void* stream, int* status) {
  *status = capturing && stream == capturing;
  return sticky;
}
int cuStreamBeginCapture_v2(void* stream, int) {
  capturing = stream;
  captured.clear();
  return sticky;
}
int cuStreamEndCapture(void*, void** graph) {
  *graph = new std::vector<RecordedLaunch>(captured);
  capturing = nullptr;
  return sticky;
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  *executable = new std::vector<RecordedLaunch>(*static_cast<std::vector<RecordedLaunch>*>(graph));
  return sticky;
}
int cuGraphDestroy(void* graph) {
  delete static_cast<std::vector<RecordedLaunch>*>(graph);
  return sticky;
}
int cuGraphLaunch(void* executable, void*) {
  ++kerf_fake_graphs;
  for (auto& [kernel, grid, block, arguments] : *static_cast<std::vector<RecordedLaunch>*>(executable)) {
    std::array<void*, 17> parameters{};
    for (std::size_t i = 0; i < arguments.size(); ++i) parameters[i] = &arguments[i];
    const int error = cuLaunchKernel(kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, nullptr,
                                     parameters.data(), nullptr);
    if (error != 0) return error;
  }
  return sticky;
}
int cuStreamSynchronize(void*) { return sticky; }
int cuEventCreate(void** event, unsigned) {
  *event = new std::uint64_t(0);
  return sticky;
}
int cuEventRecord(void* event, void*) {
  *static_cast<std::uint64_t*>(event) = kerf_fake_now();
  return sticky;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = static_cast<float>(*static_cast<std::uint64_t*>(end) - *static_cast<std::uint64_t*>(begin)) / 1e6f;
  return sticky;
}

/// The image is a shared object; its length is in the last section header, so the whole is read from there.
int cuModuleLoadData(void** module, const void* image) {
  if (sticky) return sticky;
  const auto* bytes = static_cast<const unsigned char*>(image);
  if (std::memcmp(bytes,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return kInvalidImage;
  std::uint64_t sections = 0;
  std::uint16_t count = 0;
  std::memcpy(&sections, bytes + 40, 8);
  std::memcpy(&count, bytes + 60, 2);
  const std::size_t size = sections + count * std::size_t{64};
  const int file = ::memfd_create("module", 0);
  if (::write(file, image, size) != static_cast<ssize_t>(size)) return kInvalidImage;
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  *module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return *module ? 0 : kInvalidImage;
}
int cuModuleUnload(void* module) {
  ::dlclose(module);
  return sticky;
}
int cuModuleGetFunction(void** result, void* module, const char* name) {
  *result = ::dlsym(module, name);
  return *result ? 0 : kNotFound;
}
int cuFuncGetAttribute(int* value, int attribute, void*) {
  *value = attribute == 0 ? 1024 : attribute == 3 ? kerf_fake_local_bytes : attribute == 4 ? 32 : 0;
  return 0;
}
int cuFuncSetAttribute(void*, int, int) { return 0; }

int cuLaunchKernel(void* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned /*shared*/, void* stream, void** parameters, void** /*extra*/) {
  if (sticky) return sticky;
  if (capturing && stream == capturing) {
    auto& launch = captured.emplace_back(RecordedLaunch{kernel, {gx, gy, gz}, {bx, by, bz}, {}});
    for (int i = 0; i < 16 && parameters[i]; ++i) {
      launch.arguments.emplace_back();
      std::memcpy(&launch.arguments.back(), parameters[i], 8);
    }
    return 0;
  }
  function = kernel;
  if (Dl_info info; ::dladdr(kernel, &info) != 0 && info.dli_sname) launched.emplace_back(info.dli_sname);
  // How many parameters there are is not known; those beyond the list are never looked at by the kernel.
  for (int i = 0; i < 16; ++i) {
    if (!parameters[i]) break;
    std::memcpy(&arguments[i], parameters[i], 8);
  }
  const std::size_t threads = std::size_t{bx} * by * bz;
  if (fibers.size() < threads) fibers.resize(threads);
  static char signal_stack[64 << 10];
  stack_t alternate{signal_stack, 0, sizeof signal_stack};
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_handler = on_bad_address;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  struct sigaction before_segv{}, before_bus{};
  ::sigaction(SIGSEGV, &action, &before_segv);
  ::sigaction(SIGBUS, &action, &before_bus);
  const int error = sigsetjmp(recovery, 1);
  if (error != 0) {
    sticky = error;
    return 0;  // as on a GPU, the launch succeeds and the error comes with the next synchronisation
  }
  kerf_fake_block_extent = {bx, by, bz};
  kerf_fake_grid_extent = {gx, gy, gz};
  for (std::uint64_t block = 0; block < std::uint64_t{gx} * gy * gz; ++block) {
    kerf_fake_block = {static_cast<unsigned>(block % gx), static_cast<unsigned>(block / gx % gy),
                       static_cast<unsigned>(block / gx / gy)};
    for (std::size_t t = 0; t < threads; ++t) {
      auto& fiber = fibers[t];
      if (!fiber.stack) fiber.stack = std::make_unique<char[]>(kStack);
      fiber.done = false;
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack.get();
      fiber.context.uc_stack.ss_size = kStack;
      fiber.context.uc_link = nullptr;
      makecontext(&fiber.context, fiber_main, 0);
    }
    for (bool running = true; running;) {
      running = false;
      for (std::size_t t = 0; t < threads; ++t) {
        if (fibers[t].done) continue;
        current = t;
        kerf_fake_thread = {static_cast<unsigned>(t % bx), static_cast<unsigned>(t / bx % by),
                            static_cast<unsigned>(t / bx / by)};
        swapcontext(&scheduler, &fibers[t].context);
        running |= !fibers[t].done;
      }
    }
  }
  ::sigaction(SIGSEGV, &before_segv, nullptr);
  ::sigaction(SIGBUS, &before_bus, nullptr);
  return 0;
}

}  // extern "C"
