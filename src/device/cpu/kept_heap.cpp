#include "device/cpu/kept_heap.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <span>

namespace kerf::cpu {
namespace {

struct Block {
  void* memory = nullptr;
  std::size_t bytes = 0, alignment = 0;
  bool free = false;
};

/// Blocks of a kernel that allocates more than so many at a time are left to the allocator.
constexpr std::size_t kMostBlocks = 256;

std::atomic<bool> g_kept{false}, g_soiled{false};
std::mutex g_mutex;
std::array<Block, kMostBlocks> g_blocks;  // guarded by g_mutex
std::size_t g_count = 0;                  // likewise

/// False when code that is not the kernel's freed the block and got another one at its place, which the kernel freed.
bool is_still(const Block& block) {
  return ::malloc_usable_size(block.memory) >= block.bytes &&
         (block.alignment == 0 || reinterpret_cast<std::uintptr_t>(block.memory) % block.alignment == 0);
}

/// A free block of this size, or what `fresh` allocates.
template <class Fresh>
void* take(std::size_t bytes, std::size_t alignment, Fresh fresh) {
  if (g_soiled.load(std::memory_order_relaxed)) {
    void* const memory = fresh();
    if (memory != nullptr) std::memset(memory, kSoil, bytes);
    return memory;
  }
  if (!g_kept.load(std::memory_order_relaxed)) return fresh();
  const auto all = [] { return std::span(g_blocks).first(g_count); };
  {
    const std::lock_guard lock(g_mutex);
    for (Block& block : all())
      if (block.free && block.bytes == bytes && block.alignment == alignment && is_still(block)) {
        block.free = false;
        return block.memory;
      }
  }
  void* const memory = fresh();  // may throw
  const std::lock_guard lock(g_mutex);
  // A block that was freed by code that is not the kernel's may come back while we still know it.
  const auto known = std::ranges::find(all(), memory, &Block::memory);
  if (known != all().end())
    *known = {memory, bytes, alignment, false};
  else if (memory != nullptr && g_count < kMostBlocks)
    g_blocks[g_count++] = {memory, bytes, alignment, false};
  return memory;
}

/// True when the block is kept; else the caller frees it.
bool keep(void* memory) {
  if (memory == nullptr || !g_kept.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(g_mutex);
  const auto all = std::span(g_blocks).first(g_count);
  const auto known = std::ranges::find(all, memory, &Block::memory);
  if (known == all.end()) return false;
  known->free = true;
  return true;
}

/// Size of a block that the kernel holds; 0: not known here.
std::size_t known_bytes(void* memory) {
  const std::lock_guard lock(g_mutex);
  const auto all = std::span(g_blocks).first(g_count);
  const auto known = std::ranges::find(all, memory, &Block::memory);
  return known == all.end() ? 0 : known->bytes;
}

// One function for each symbol. `Tag` tells symbols of one type apart: each has its own original.
template <int tag, class Signature>
struct Symbol;

template <int tag, class... Rest>
struct Symbol<tag, void*(std::size_t, Rest...)> {  // malloc and operator new
  static inline void* (*original)(std::size_t, Rest...) = nullptr;
  static void* ours(std::size_t bytes, Rest... rest) {
    return take(bytes, 0, [&] { return original(bytes, rest...); });
  }
};

template <int tag, class... Rest>
struct Symbol<tag, void(void*, Rest...)> {  // free and operator delete
  static inline void (*original)(void*, Rest...) = nullptr;
  static void ours(void* memory, Rest... rest) {
    if (!keep(memory)) original(memory, rest...);
  }
};

template <int tag>
struct Aligned {  // aligned_alloc and memalign
  static inline void* (*original)(std::size_t, std::size_t) = nullptr;
  static void* ours(std::size_t alignment, std::size_t bytes) {
    return take(bytes, alignment, [&] { return original(alignment, bytes); });
  }
};

struct AlignedNew {
  static inline void* (*original)(std::size_t, std::align_val_t) = nullptr;
  static void* ours(std::size_t bytes, std::align_val_t alignment) {
    return take(bytes, static_cast<std::size_t>(alignment), [&] { return original(bytes, alignment); });
  }
};
struct AlignedNewArray {
  static inline void* (*original)(std::size_t, std::align_val_t) = nullptr;
  static void* ours(std::size_t bytes, std::align_val_t alignment) {
    return take(bytes, static_cast<std::size_t>(alignment), [&] { return original(bytes, alignment); });
  }
};

struct PosixAligned {
  static inline int (*original)(void**, std::size_t, std::size_t) = nullptr;
  static int ours(void** result, std::size_t alignment, std::size_t bytes) {
    int error = 0;
    void* const memory = take(bytes, alignment, [&]() -> void* {
      void* made = nullptr;
      error = original(&made, alignment, bytes);
      return error == 0 ? made : nullptr;
    });
    if (error == 0) *result = memory;
    return error;
  }
};

struct Zeroed {  // calloc
  static inline void* (*original)(std::size_t, std::size_t) = nullptr;
  static void* ours(std::size_t count, std::size_t each) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, each, &bytes)) return original(count, each);
    void* const memory = take(bytes, 0, [&] { return original(count, each); });
    if (memory != nullptr) std::memset(memory, 0, bytes);
    return memory;
  }
};

struct Resized {  // realloc
  static inline void* (*original)(void*, std::size_t) = nullptr;
  static void* ours(void* memory, std::size_t bytes) {
    const std::size_t before = memory != nullptr && g_kept ? known_bytes(memory) : 0;
    if (before == 0 || bytes == 0) {
      return memory == nullptr ? take(bytes, 0, [&] { return original(nullptr, bytes); }) : original(memory, bytes);
    }
    void* const larger = take(bytes, 0, [&] { return original(nullptr, bytes); });
    if (larger == nullptr) return nullptr;
    std::memcpy(larger, memory, std::min(before, bytes));
    keep(memory);
    return larger;
  }
};

template <class Entry>
void* use(void* original) {
  Entry::original = reinterpret_cast<decltype(Entry::original)>(original);
  return reinterpret_cast<void*>(&Entry::ours);
}

using Nothrow = const std::nothrow_t&;

struct Named {
  std::string_view symbol;
  void* (*use)(void* original);
};
constexpr Named kNamed[] = {
    {"malloc", use<Symbol<0, void*(std::size_t)>>},
    {"calloc", use<Zeroed>},
    {"realloc", use<Resized>},
    {"aligned_alloc", use<Aligned<0>>},
    {"memalign", use<Aligned<1>>},
    {"posix_memalign", use<PosixAligned>},
    {"free", use<Symbol<0, void(void*)>>},
    {"_Znwm", use<Symbol<1, void*(std::size_t)>>},
    {"_Znam", use<Symbol<2, void*(std::size_t)>>},
    {"_ZnwmRKSt9nothrow_t", use<Symbol<1, void*(std::size_t, Nothrow)>>},
    {"_ZnamRKSt9nothrow_t", use<Symbol<2, void*(std::size_t, Nothrow)>>},
    {"_ZnwmSt11align_val_t", use<AlignedNew>},
    {"_ZnamSt11align_val_t", use<AlignedNewArray>},
    {"_ZdlPv", use<Symbol<1, void(void*)>>},
    {"_ZdaPv", use<Symbol<2, void(void*)>>},
    {"_ZdlPvm", use<Symbol<1, void(void*, std::size_t)>>},
    {"_ZdaPvm", use<Symbol<2, void(void*, std::size_t)>>},
    {"_ZdlPvRKSt9nothrow_t", use<Symbol<1, void(void*, Nothrow)>>},
    {"_ZdaPvRKSt9nothrow_t", use<Symbol<2, void(void*, Nothrow)>>},
    {"_ZdlPvSt11align_val_t", use<Symbol<1, void(void*, std::align_val_t)>>},
    {"_ZdaPvSt11align_val_t", use<Symbol<2, void(void*, std::align_val_t)>>},
    {"_ZdlPvmSt11align_val_t", use<Symbol<1, void(void*, std::size_t, std::align_val_t)>>},
    {"_ZdaPvmSt11align_val_t", use<Symbol<2, void(void*, std::size_t, std::align_val_t)>>},
};

}  // namespace

void* heap_replacement(std::string_view symbol, void* original) {
  const auto found = std::ranges::find(kNamed, symbol, &Named::symbol);
  return found == std::end(kNamed) || original == nullptr ? nullptr : found->use(original);
}

SoiledHeap::SoiledHeap() { g_soiled = true; }

SoiledHeap::~SoiledHeap() { g_soiled = false; }

KeptHeap::KeptHeap() { g_kept = true; }

KeptHeap::~KeptHeap() {
  g_kept = false;
  const std::lock_guard lock(g_mutex);
  for (Block& block : std::span(g_blocks).first(g_count))
    if (block.free) std::free(block.memory);  // what the kernel still holds it frees itself
  g_count = 0;
}

}  // namespace kerf::cpu
