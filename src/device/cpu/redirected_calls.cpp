#include "device/cpu/redirected_calls.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "device/cpu/kept_heap.hpp"

namespace kerf {
namespace {

/// One lock for every name, found by the address of the word that the compiler gave the name.
struct NamedLock {
  std::atomic<const void*> name{nullptr};
  std::mutex mutex;
};
constexpr std::size_t kMostNames = 256;
std::array<NamedLock, kMostNames> g_locks;  // of the one kernel that this process has

std::mutex& lock_of(const void* name) {
  for (auto& lock : g_locks) {
    const void* known = lock.name.load(std::memory_order_acquire);
    if (known == name) return lock.mutex;
    if (known == nullptr && lock.name.compare_exchange_strong(known, name)) return lock.mutex;
    if (known == name) return lock.mutex;  // another thread was first, with the same name
  }
  std::abort();  // more names than a kernel can have use for
}

void gomp_start(void** name) { lock_of(name).lock(); }
void gomp_end(void** name) { lock_of(name).unlock(); }
void kmpc_start(void*, int, void* name) { lock_of(name).lock(); }
void kmpc_start_with_hint(void*, int, void* name, std::uint32_t) { lock_of(name).lock(); }
void kmpc_end(void*, int, void* name) { lock_of(name).unlock(); }

/// Our function for what the reference at `place` leads to, or null.
void* replacement(std::string_view symbol, ElfW(Addr) place) {
  if (symbol == "GOMP_critical_name_start") return reinterpret_cast<void*>(&gomp_start);
  if (symbol == "GOMP_critical_name_end") return reinterpret_cast<void*>(&gomp_end);
  if (symbol == "__kmpc_critical") return reinterpret_cast<void*>(&kmpc_start);
  if (symbol == "__kmpc_critical_with_hint") return reinterpret_cast<void*>(&kmpc_start_with_hint);
  if (symbol == "__kmpc_end_critical") return reinterpret_cast<void*>(&kmpc_end);
  void* original = nullptr;
  std::memcpy(&original, reinterpret_cast<const void*>(place), sizeof original);
  return cpu::heap_replacement(symbol, original);
}

/// The loader's tables of a library that is loaded: addresses, as the loader has corrected them.
struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * relocations[2] = {nullptr, nullptr};
  std::size_t bytes[2] = {0, 0};
};

Tables tables_of(const link_map& map) {
  Tables tables;
  for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB: tables.symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr); break;
      case DT_STRTAB: tables.names = reinterpret_cast<const char*>(entry->d_un.d_ptr); break;
      case DT_RELA: tables.relocations[0] = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr); break;
      case DT_RELASZ: tables.bytes[0] = entry->d_un.d_val; break;
      case DT_JMPREL: tables.relocations[1] = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: tables.bytes[1] = entry->d_un.d_val; break;
      default: break;
    }
  }
  return tables;
}

// The loader has already made the page read-only; the worker does so again with all of the kernel's memory.
void overwrite(ElfW(Addr) place, void* value) {
  const auto page = static_cast<ElfW(Addr)>(::sysconf(_SC_PAGESIZE));
  const ElfW(Addr) begin = place / page * page;
  const ElfW(Addr) end = (place + sizeof value + page - 1) / page * page;
  if (::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) != 0) return;
  std::memcpy(reinterpret_cast<void*>(place), &value, sizeof value);
}

}  // namespace

void redirect_calls(void* library) {
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return;
  const Tables tables = tables_of(*map);
  if (tables.symbols == nullptr || tables.names == nullptr) return;
  for (int table = 0; table < 2; ++table) {
    for (std::size_t i = 0; i < tables.bytes[table] / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)& relocation = tables.relocations[table][i];
      const auto symbol = ELF64_R_SYM(relocation.r_info);
      if (symbol == 0) continue;
      const ElfW(Addr) place = map->l_addr + relocation.r_offset;
      const char* const name = tables.names + tables.symbols[symbol].st_name;
      if (void* const ours = replacement(name, place)) overwrite(place, ours);
    }
  }
}

}  // namespace kerf
