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

bool is_openmp(std::string_view symbol) {
  return symbol.starts_with("GOMP_") || symbol.starts_with("omp_") || symbol.starts_with("__kmpc_");
}

/// Our function for a critical section's, or null.
void* lock_replacement(std::string_view symbol) {
  if (symbol == "GOMP_critical_name_start") return reinterpret_cast<void*>(&gomp_start);
  if (symbol == "GOMP_critical_name_end") return reinterpret_cast<void*>(&gomp_end);
  if (symbol == "__kmpc_critical") return reinterpret_cast<void*>(&kmpc_start);
  if (symbol == "__kmpc_critical_with_hint") return reinterpret_cast<void*>(&kmpc_start_with_hint);
  if (symbol == "__kmpc_end_critical") return reinterpret_cast<void*>(&kmpc_end);
  return nullptr;
}

void* address_at(ElfW(Addr) place) {
  void* address = nullptr;
  std::memcpy(&address, reinterpret_cast<const void*>(place), sizeof address);
  return address;
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

// The loader has already made the page read-only, or the worker has.
void overwrite(ElfW(Addr) place, void* value) {
  const auto page = static_cast<ElfW(Addr)>(::sysconf(_SC_PAGESIZE));
  const ElfW(Addr) begin = place / page * page;
  const ElfW(Addr) end = (place + sizeof value + page - 1) / page * page;
  if (::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) != 0) return;
  std::memcpy(reinterpret_cast<void*>(place), &value, sizeof value);
  ::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ);
}

}  // namespace

Redirected redirect_calls(void* library) {
  Redirected redirected;
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return redirected;
  const Tables tables = tables_of(*map);
  if (tables.symbols == nullptr || tables.names == nullptr) return redirected;
  for (int table = 0; table < 2; ++table) {
    for (std::size_t i = 0; i < tables.bytes[table] / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)& relocation = tables.relocations[table][i];
      const auto symbol = ELF64_R_SYM(relocation.r_info);
      if (symbol == 0) continue;
      const ElfW(Addr) place = map->l_addr + relocation.r_offset;
      const std::string_view name = tables.names + tables.symbols[symbol].st_name;
      if (void* const ours = lock_replacement(name)) overwrite(place, ours);
      if (void* const ours = cpu::heap_replacement(name, address_at(place)))
        redirected.heap.push_back({reinterpret_cast<void*>(place), address_at(place), ours});
      if (is_openmp(name)) redirected.uses_openmp = true;
    }
  }
  return redirected;
}

RedirectedHeap::RedirectedHeap(const std::vector<HeapReference>& references) : references_(references) {
  for (const HeapReference& one : references_) overwrite(reinterpret_cast<ElfW(Addr)>(one.place), one.ours);
}

RedirectedHeap::~RedirectedHeap() {
  for (const HeapReference& one : references_) overwrite(reinterpret_cast<ElfW(Addr)>(one.place), one.original);
}

}  // namespace kerf
