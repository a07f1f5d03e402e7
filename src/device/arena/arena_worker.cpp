#include "device/arena/arena_worker.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "device/arena/protocol.hpp"
#include "device/arena/shared_memory.hpp"

namespace kerf::arena {
namespace {

Control* g_control = nullptr;  // signal handlers have no other way to it; set once, before any candidate code

[[noreturn]] void end_now(int status) {
  if (g_control != nullptr) {
    g_control->done.store(kEnded, std::memory_order_release);
    futex_wake(g_control->done);
  }
  for (;;) ::syscall(SYS_exit_group, status);
}

std::uintptr_t stack_pointer(const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.sp);
#else
  (void)context;
  return 0;
#endif
}

void handle_crash(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto stack = stack_pointer(context);
  g_control->fault_signal = static_cast<std::uint32_t>(number);
  g_control->fault_address = address;
  // A push below the last page of the stack; frames with large arrays touch further down.
  g_control->fault_is_stack = number == SIGSEGV && address + (1 << 16) > stack && address < stack + (1 << 16);
  end_now(kCrashExit);
}

Status install_crash_handlers() {
  stack_t alternate{};
  alternate.ss_size = 64 << 10;
  alternate.ss_sp = ::mmap(nullptr, alternate.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (alternate.ss_sp == MAP_FAILED || ::sigaltstack(&alternate, nullptr) != 0)
    return fail(Errc::io, fmt::format("signal stack: {}", std::strerror(errno)));
  struct sigaction action{};
  action.sa_sigaction = handle_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigfillset(&action.sa_mask);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) ::sigaction(number, &action, nullptr);
  return {};
}

// Zones of a file, spread over reserved addresses: what lies between them is not shared, so that nothing written there
// (should a candidate unlock it) reaches anybody else.
class ZoneMap {
 public:
  static Result<ZoneMap> make(int fd, std::span<const std::vector<Place>> slots) {
    ZoneSpread spread = spread_zones(slots);
    void* base = ::mmap(nullptr, static_cast<std::size_t>(spread.bytes), PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return fail(Errc::unavailable, fmt::format("mapping buffers: {}", std::strerror(errno)));
    return ZoneMap(static_cast<std::byte*>(base), fd, std::move(spread));
  }

  /// The buffers of a slot; `places` are those of `make`.
  Result<std::vector<Buffer>> map(std::size_t slot, std::span<const Place> places) const {
    std::vector<Buffer> buffers;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Place& place = places[i];
      std::byte* const at = base_ + spread_.begins[slot][i];
      void* zone = ::mmap(at, static_cast<std::size_t>(place.zone_bytes), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED, fd_, place.zone);
      if (zone == MAP_FAILED) return fail(Errc::unavailable, fmt::format("mapping a buffer: {}", std::strerror(errno)));
      buffers.push_back({at + (place.data - place.zone), place.bytes, at, place.zone_bytes});
    }
    return buffers;
  }
  std::byte* base() const { return base_; }
  std::int64_t bytes() const { return spread_.bytes; }

 private:
  ZoneMap(std::byte* base, int fd, ZoneSpread spread) : base_(base), fd_(fd), spread_(std::move(spread)) {}
  std::byte* base_;
  int fd_;
  ZoneSpread spread_;
};

Result<Program> map_program(LoadFds fds) {
  KERF_TRY(SharedMemory words, SharedMemory::open(std::move(fds.message), false));
  KERF_TRY(LoadMessage message,
           decode({reinterpret_cast<const char*>(words.data()), static_cast<std::size_t>(words.bytes())}));
  const int artifact_fd = ::dup(fds.artifact.number());  // stays open: code may be loaded from it by name
  KERF_TRY(SharedMemory artifact, SharedMemory::open(std::move(fds.artifact), false));

  Program program;
  program.artifact = {reinterpret_cast<const char*>(artifact.data()), static_cast<std::size_t>(artifact.bytes())};
  program.artifact_fd = artifact_fd;
  program.inputs = message.inputs;
  KERF_TRY(const ZoneMap buffers, ZoneMap::make(fds.slots.number(), message.slots));
  for (std::size_t s = 0; s < message.slots.size(); ++s) {
    KERF_TRY(std::vector<Buffer> slot, buffers.map(s, message.slots[s]));
    program.slots.push_back(std::move(slot));
  }
  KERF_TRY(const ZoneMap scratch, ZoneMap::make(fds.scratch.number(), std::span(&message.scratch, 1)));
  KERF_TRY(program.scratch, scratch.map(0, message.scratch));
  program.launches = std::move(message.launches);
  program.surroundings = std::move(message.surroundings);
  g_control->arena_address = reinterpret_cast<std::uint64_t>(buffers.base());
  if (message.memory_bytes > 0) {
    const auto limit = static_cast<rlim_t>(message.memory_bytes + buffers.bytes() + scratch.bytes() + artifact.bytes());
    const rlimit both{limit, limit};
    ::setrlimit(RLIMIT_AS, &both);
  }
  artifact.keep_mapped_forever();
  return program;
}

Result<Control*> map_control(int fd) {
  void* page = ::mmap(nullptr, static_cast<std::size_t>(kControlBytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED)
    return fail(Errc::unavailable, fmt::format("mapping the control page: {}", std::strerror(errno)));
  return static_cast<Control*>(page);
}

void put_text(std::string_view text) {
  const std::size_t size = std::min(text.size(), g_control->text.size() - 1);
  std::memcpy(g_control->text.data(), text.data(), size);
  g_control->text[size] = '\0';
}

void finish(std::uint32_t command) {
  g_control->done.store(command, std::memory_order_release);
  futex_wake(g_control->done);
}

void report(const Status& status, std::uint32_t failure) {
  g_control->failed = status ? 0 : failure;
  if (!status) put_text(status.error().message);
}

// The judge writes slots only while we are stopped; a candidate may have scribbled over them, so they are checked.
Status obey(Kernel& kernel, const Program& program) {
  int slots[kMaxBatch];
  const int count = g_control->slot_count;
  if (count < 0 || count > kMaxBatch) return fail(Errc::invalid_input, "the control page was overwritten");
  for (int i = 0; i < count; ++i) {
    slots[i] = g_control->slots[static_cast<std::size_t>(i)];
    if (slots[i] < 0 || slots[i] >= static_cast<int>(program.slots.size()))
      return fail(Errc::invalid_input, "the control page was overwritten");
  }
  const std::span<const int> list(slots, static_cast<std::size_t>(count));
  switch (g_control->action) {
    case Action::upload: return kernel.upload(list);
    case Action::download: return kernel.download(list);
    case Action::run: break;
  }
  if (const CallManner manner = g_control->manner; count == 1 && manner != CallManner{})
    return kernel.run_as(slots[0], manner);
  KERF_TRY(const double device_us, kernel.run(list));
  g_control->device_us = device_us;
  return {};
}

}  // namespace

int serve(Kernel& kernel) {
  const Status started = kernel.start();
  auto fds = receive_load(kWorkerSocket);
  if (!fds) return fds.error().code == Errc::not_found ? 0 : 1;
  Result<Program> program = fail(Errc::io, "nothing is loaded");
  auto control = map_control(fds->control.number());
  if (!control) return 1;
  g_control = *control;
  fds->control.reset();
  if (started) program = map_program(*std::move(fds));
  Status ready = started;
  if (ready && !program) ready = tl::unexpected<Error>(program.error());
  if (ready) ready = install_crash_handlers();
  if (!ready) {
    report(ready, 2);
    finish(kLoadCommand);
    return 1;
  }
  report(kernel.load(*program), 1);
  std::uint32_t handled = kLoadCommand;
  finish(handled);
  for (;;) {
    std::uint32_t command = 0;
    while ((command = g_control->command.load(std::memory_order_acquire)) == handled)
      futex_wait(g_control->command, handled, std::chrono::nanoseconds(-1));
    report(obey(kernel, *program), 1);
    handled = command;
    finish(handled);
  }
}

void note_forbidden(int system_call) {
  if (g_control == nullptr) return;
  g_control->forbidden_call = static_cast<std::uint32_t>(system_call) + 1;
  g_control->done.store(kEnded, std::memory_order_release);
  futex_wake(g_control->done);
}

}  // namespace kerf::arena
