#pragma once
// Runs CUDA kernels on the host, one block at a time: threads are fibers that take turns in random order (from a fixed
// seed), and collective instructions are meetings. What the instructions do is in emulator_units.hpp.

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

// The parts of the dialect layer and of CUDA C++ that these kernels use.
using kerf_index = long long;
using std::max;
using std::min;
// clang-format off
struct uint4 { unsigned x, y, z, w; };
struct alignas(8) float2 { float x, y; };
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
template <class To, class From> To bits_as(From from) { To to; std::memcpy(&to, &from, sizeof to); return to; }
inline unsigned __float_as_uint(float x) { return bits_as<unsigned>(x); }
inline int __float_as_int(float x) { return bits_as<int>(x); }
inline float __uint_as_float(unsigned x) { return bits_as<float>(x); }
inline float __int_as_float(int x) { return bits_as<float>(x); }
// clang-format on
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define KERF_KERNEL_THREADS(n) void
#define KERF_KERNEL_RESIDENT(n, groups) void
#define KERF_FN [[maybe_unused]] static inline
#define KERF_INLINE inline
#define KERF_GLOBAL
#define KERF_RESTRICT
#define KERF_UNROLL
#define KERF_NO_UNROLL
#define KERF_INFINITY __builtin_inff()
#define KERF_SHUFFLE_XOR(v, m) emulated::shuffle_xor(v, m)
#define __syncthreads() emulated::sync_count(false)
#define __syncthreads_count(p) emulated::sync_count(p)
#define __syncwarp() emulated::sync_warp()

namespace emulated {

[[noreturn]] inline void stop(const char* why) {
  std::printf("%s\n", why);
  std::fflush(stdout);
  std::_Exit(3);
}

constexpr int kMostThreads = 1024;
constexpr std::size_t kStack = 192 * 1024;
constexpr std::size_t kMostShared = 227 * 1024;
constexpr unsigned kDynamicAt =
    1024 + 16;  // where dynamic shared memory starts: aligned to what the driver promises only
constexpr unsigned kStaticAt = 0x40000000u;  // addresses of __shared__ variables, which are plain statics here

// A meeting of `parties` threads; the last one to come acts for all.
struct Meeting {
  int arrived = 0;
  long round = 0;
  std::vector<void*> data;
};
struct Copy {
  unsigned to = 0;
  const void* from = nullptr;  // null: zeros
  unsigned bytes = 0;
};
struct Barrier {
  int arrivals = 0, pending = 0;
  long bytes = 0;  // announced and not there yet
  unsigned phase = 0;
  std::vector<Copy> copies;
};
struct Product {             // wgmma
  std::vector<float*> sums;  // of the 128 threads
  unsigned long long a = 0, b = 0;
  bool add = true, half = true;
  int columns = 0;
};
struct WarpGroup {
  std::vector<Product> open;
  std::vector<std::vector<Product>> committed;
  std::map<float*, std::vector<std::vector<float>>>
      values;  // of sums in flight, by the first thread's; the registers hold NaNs
};
struct Fiber {
  ucontext_t context;
  bool done = true;
};

struct Block {
  int threads = 0, current = 0;
  std::size_t dynamic_bytes = 0;
  Meeting all;
  std::vector<Meeting> warps, groups;
  std::vector<WarpGroup> products;
  std::vector<std::vector<Copy>> open_copies;               // per thread: cp.async not yet committed
  std::vector<std::vector<std::vector<Copy>>> copy_groups;  // per thread, oldest first
  std::map<unsigned, Barrier> barriers;
  long progress = 0;
};
inline Block block;
inline std::vector<Fiber> fibers(kMostThreads);
inline const std::unique_ptr<char[]> stacks(new char[kStack * kMostThreads]);  // not touched before use
inline ucontext_t scheduler;
inline std::function<void()> body;
inline std::mt19937 random_order(1);
alignas(4096) inline unsigned char arena[kDynamicAt + kMostShared + 4096];
inline unsigned char* dynamic_shared() { return arena + kDynamicAt; }
inline unsigned char anchor;

inline void yield() {
  const int self = block.current;
  swapcontext(&fibers[static_cast<std::size_t>(self)].context, &scheduler);
  block.current = self;
}

template <class Act>
void meet(Meeting& meeting, int parties, int index, void* mine, Act act) {
  meeting.data.resize(static_cast<std::size_t>(parties));
  meeting.data[static_cast<std::size_t>(index)] = mine;
  const long round = meeting.round;
  ++block.progress;
  if (++meeting.arrived == parties) {
    act(meeting.data);
    meeting.arrived = 0;
    ++meeting.round;
  } else {
    while (meeting.round == round) yield();
  }
}
template <class Act>
void meet_warp(void* mine, Act act) {
  meet(block.warps[static_cast<std::size_t>(block.current / 32)], 32, block.current % 32, mine, act);
}
template <class Act>
void meet_group(void* mine, Act act) {
  meet(block.groups[static_cast<std::size_t>(block.current / 128)], 128, block.current % 128, mine, act);
}

inline int sync_count(bool flag) {
  struct Part {
    bool flag;
    int count;
  } part{flag, 0};
  meet(block.all, block.threads, block.current, &part, [](const std::vector<void*>& parts) {
    int count = 0;
    for (void* p : parts) count += static_cast<Part*>(p)->flag;
    for (void* p : parts) static_cast<Part*>(p)->count = count;
  });
  return part.count;
}
inline void sync_warp() {
  meet_warp(nullptr, [](const std::vector<void*>&) {});
}
template <class T>
T shuffle_xor(T value, int mask) {
  struct Part {
    T value, result;
    int mask;
  } part{value, value, mask};
  meet_warp(&part, [](const std::vector<void*>& parts) {
    for (std::size_t l = 0; l < 32; ++l) {
      auto* mine = static_cast<Part*>(parts[l]);
      mine->result = static_cast<Part*>(parts[l ^ static_cast<std::size_t>(mine->mask)])->value;
    }
  });
  return part.result;
}

// Shared addresses.
inline unsigned shared_address(const void* p) {
  const auto* at = static_cast<const unsigned char*>(p);
  if (at >= arena && at < arena + sizeof arena) return static_cast<unsigned>(at - arena);
  return kStaticAt + 0x20000000u + static_cast<unsigned>(at - &anchor);
}
inline unsigned char* at(unsigned address, unsigned bytes) {
  if (address >= kStaticAt) return &anchor + static_cast<std::ptrdiff_t>(address - kStaticAt - 0x20000000u);
  if (address < kDynamicAt || address + bytes > kDynamicAt + block.dynamic_bytes)
    stop("shared memory: outside of the launch's bytes");
  return arena + address;
}

// Launching.
inline void enter() {
  body();
  fibers[static_cast<std::size_t>(block.current)].done = true;
  swapcontext(&fibers[static_cast<std::size_t>(block.current)].context, &scheduler);
}
inline void start_block(int threads, std::size_t dynamic_bytes) {
  block = Block();
  block.threads = threads;
  block.dynamic_bytes = dynamic_bytes;
  block.warps.resize(static_cast<std::size_t>(threads / 32));
  block.groups.resize(static_cast<std::size_t>((threads + 127) / 128));
  block.products.resize(block.groups.size());
  block.open_copies.resize(static_cast<std::size_t>(threads));
  block.copy_groups.resize(static_cast<std::size_t>(threads));
  std::memset(arena, 0xff, sizeof arena);
  for (int t = 0; t < threads; ++t) {
    Fiber& fiber = fibers[static_cast<std::size_t>(t)];
    fiber.done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks.get() + kStack * static_cast<std::size_t>(t);
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter, 0);
  }
}
inline void finish_block() {
  for (const WarpGroup& group : block.products)
    if (!group.committed.empty() || !group.open.empty()) stop("wgmma: still in flight when the block ended");
  for (const auto& [address, barrier] : block.barriers)
    if (!barrier.copies.empty()) stop("bulk copy: still in flight when the block ended");
  for (const auto& groups : block.copy_groups)
    for (const auto& group : groups)
      if (!group.empty()) stop("cp.async: still in flight when the block ended");
}

}  // namespace emulated

struct KerfDim {
  unsigned x = 1;
};
inline KerfDim blockIdx, blockDim, gridDim;
struct KerfThread {
  struct Number {
    operator unsigned() const { return static_cast<unsigned>(emulated::block.current); }
  } x;
};
inline KerfThread threadIdx;

template <class T, class U>
T atomicAdd(T* to, U value) {
  const T old = *to;
  *to += static_cast<T>(value);
  return old;
}

namespace emulated {

inline void launch(long long grid, int threads, std::size_t dynamic_bytes, std::function<void()> kernel) {
  if (threads % 32 != 0 || threads > kMostThreads) stop("launch: no whole warps");
  if (dynamic_bytes + 2048 > kMostShared) stop("launch: too much shared memory");
  body = std::move(kernel);
  gridDim.x = static_cast<unsigned>(grid);
  blockDim.x = static_cast<unsigned>(threads);
  std::vector<int> order(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) order[static_cast<std::size_t>(t)] = t;
  for (long long b = 0; b < grid; ++b) {
    blockIdx.x = static_cast<unsigned>(b);
    start_block(threads, dynamic_bytes);
    for (int idle = 0; idle < 50;) {
      const long before = block.progress;
      bool any = false;
      std::shuffle(order.begin(), order.end(), random_order);
      for (const int t : order) {
        Fiber& fiber = fibers[static_cast<std::size_t>(t)];
        if (fiber.done) continue;
        any = true;
        block.current = t;
        swapcontext(&scheduler, &fiber.context);
        block.progress += fiber.done ? 1 : 0;
      }
      if (!any) break;
      idle = block.progress == before ? idle + 1 : 0;
      if (idle == 50) stop("deadlock: nobody goes on");
    }
    finish_block();
  }
}

}  // namespace emulated
