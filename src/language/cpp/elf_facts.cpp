#include "language/cpp/elf_facts.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/elf.hpp"

namespace kerf::cpp {
namespace {

// Filled in by the loader and read-only from then on. They are known by name only; the worker makes them read-only in
// memory too, so a variable that hides in one of them cannot be written.
constexpr std::string_view kLoaderSections[] = {".dynamic",     ".got",        ".got.plt",
                                                ".data.rel.ro", ".init_array", ".fini_array"};

// What the loader fills in with an address, and nothing that calls code of the file (R_X86_64_IRELATIVE) or copies.
constexpr std::uint32_t kX86Relocations[] = {R_X86_64_NONE,      R_X86_64_64,       R_X86_64_GLOB_DAT,
                                             R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE, R_X86_64_DTPMOD64,
                                             R_X86_64_DTPOFF64,  R_X86_64_TPOFF64};
constexpr std::uint32_t kArmRelocations[] = {R_AARCH64_NONE,       R_AARCH64_ABS64,     R_AARCH64_GLOB_DAT,
                                             R_AARCH64_JUMP_SLOT,  R_AARCH64_RELATIVE,  R_AARCH64_TLS_DTPMOD,
                                             R_AARCH64_TLS_DTPREL, R_AARCH64_TLS_TPREL, R_AARCH64_TLSDESC};

// What linkers write for the loader to read. Load-time code has messages of its own.
constexpr std::int64_t kDynamicTags[] = {DT_NEEDED,       DT_SONAME,        DT_HASH,
                                         DT_GNU_HASH,     DT_STRTAB,        DT_SYMTAB,
                                         DT_STRSZ,        DT_SYMENT,        DT_RELA,
                                         DT_RELASZ,       DT_RELAENT,       DT_JMPREL,
                                         DT_PLTREL,       DT_PLTRELSZ,      DT_PLTGOT,
                                         DT_RELACOUNT,    DT_VERNEED,       DT_VERNEEDNUM,
                                         DT_VERSYM,       DT_VERDEF,        DT_VERDEFNUM,
                                         DT_FLAGS,        DT_FLAGS_1,       DT_BIND_NOW,
                                         DT_DEBUG,        DT_INIT,          DT_FINI,
                                         DT_INIT_ARRAY,   DT_INIT_ARRAYSZ,  DT_FINI_ARRAY,
                                         DT_FINI_ARRAYSZ, DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ,
                                         DT_TEXTREL};

constexpr std::string_view kCriticalSection = ".gomp_critical_user_";
constexpr std::uint64_t kCriticalSectionBytes = 32;

template <class List>
bool contains_number(const List& list, std::int64_t number) {
  return std::ranges::any_of(list, [&](const auto one) { return static_cast<std::int64_t>(one) == number; });
}

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

class Reader {
 public:
  explicit Reader(const elf::File& file) : file_(file) {}

  ElfFacts read() {
    read_symbols();
    read_load_time_code();
    read_dynamic_tags();
    read_relocations();
    report_unnamed_data();
    return std::move(result_);
  }

 private:
  static bool holds_state(const elf::Section& section) {
    return (section.flags & SHF_WRITE) != 0 && (section.flags & SHF_ALLOC) != 0 && section.size > 0 &&
           !contains(kLoaderSections, section.name);
  }

  void read_symbols() {
    for (const auto& section : file_.sections) {
      const auto symbols = elf::symbols(file_, section);
      for (std::size_t i = 1; i < symbols.size(); ++i) take_symbol(section.type == SHT_DYNSYM, symbols[i]);
    }
    std::ranges::sort(result_.facts.forbidden_symbols);
  }

  void take_symbol(bool dynamic, const elf::Symbol& symbol) {
    const std::string name(symbol.name);
    if (symbol.type == STT_GNU_IFUNC && (!dynamic || symbol.section != SHN_UNDEF))
      result_.facts.constructors.push_back(name + " (resolver)");
    if (dynamic) {
      if (symbol.section == SHN_UNDEF) {
        if (!name.empty() && !import_is_allowed(name)) result_.facts.forbidden_symbols.push_back(name);
      } else if (symbol.type == STT_FUNC) {
        result_.exported.push_back(name);
      }
      return;
    }
    if (symbol.type == STT_FUNC && symbol.section != SHN_UNDEF) functions_[symbol.value] = name;
    if (symbol.section == SHN_UNDEF || symbol.section >= file_.sections.size()) return;
    if (symbol.type != STT_OBJECT && symbol.type != STT_TLS && symbol.type != STT_NOTYPE) return;
    if (symbol.size == 0 || !holds_state(file_.sections[symbol.section])) return;
    if (!seen_.insert({symbol.section, symbol.value}).second) return;
    named_bytes_[symbol.section] += symbol.size;
    // The compiler's own pointers for exceptions are no state.
    if (name.starts_with("DW.ref.") && symbol.size == sizeof(std::uint64_t)) return;
    // Words that give OpenMP's critical sections their names; the worker keeps the locks elsewhere.
    if (name.starts_with(kCriticalSection) && symbol.size <= kCriticalSectionBytes) return;
    result_.facts.writable_globals.push_back(fmt::format("{} ({} bytes)", name, symbol.size));
  }

  // In a shared object the arrays hold zeros and relocations fill them; the addend is the function.
  std::vector<std::uint64_t> relocated_targets(const elf::Section& array) const {
    std::vector<std::uint64_t> targets;
    for (const auto& section : file_.sections) {
      for (const auto& relocation : elf::relocations(file_, section)) {
        if (relocation.place >= array.address && relocation.place - array.address < array.size)
          targets.push_back(static_cast<std::uint64_t>(relocation.addend));
      }
    }
    return targets;
  }

  std::string function_at(std::uint64_t address) const {
    const auto found = functions_.find(address);
    return found != functions_.end() ? found->second : fmt::format("code at {:#x}", address);
  }

  // What the loader would call, by its own table. The linker was given no start-up files, so all of it is the
  // candidate's.
  void read_load_time_code() {
    for (const auto& section : file_.sections) {
      if (section.name == ".init" || section.name == ".fini")
        result_.facts.constructors.push_back(fmt::format("code in {}", section.name));
    }
    for (const auto& entry : file_.dynamic) take_dynamic(entry);
  }

  void take_dynamic(const elf::DynamicEntry& entry) {
    auto& constructors = result_.facts.constructors;
    switch (entry.tag) {
      case DT_INIT:
      case DT_FINI: constructors.push_back(function_at(entry.value)); break;
      case DT_INIT_ARRAY:
      case DT_FINI_ARRAY: {
        std::vector<std::uint64_t> targets;
        for (const auto& section : file_.sections) {
          if (section.address == entry.value && section.size > 0) targets = relocated_targets(section);
        }
        if (targets.empty()) constructors.emplace_back("an array of functions");
        for (const auto target : targets) constructors.push_back(function_at(target));
        break;
      }
      case DT_PREINIT_ARRAY: constructors.emplace_back("an array of functions before all others"); break;
      case DT_TEXTREL: result_.facts.forbidden_symbols.emplace_back("relocations of code"); break;
      default: break;
    }
  }

  // A second table beside the linker's (sections named .dynamic can be written in assembly) would make the loader see
  // another file than we do.
  void read_dynamic_tags() {
    std::set<std::int64_t> seen;
    for (const auto& entry : file_.dynamic) {
      if (!contains_number(kDynamicTags, entry.tag))
        result_.facts.forbidden_symbols.push_back(fmt::format("loader entry {:#x}", entry.tag));
      else if (entry.tag != DT_NEEDED && !seen.insert(entry.tag).second)
        result_.facts.forbidden_symbols.push_back(fmt::format("loader entry {:#x} twice", entry.tag));
    }
  }

  // What the loader does before any check of ours could: fill in addresses, inside the file's own data.
  void read_relocations() {
    for (const auto& section : file_.sections) {
      if ((section.flags & SHF_ALLOC) == 0) continue;
      for (const auto& relocation : elf::relocations(file_, section)) take_relocation(relocation);
    }
    for (const auto& [table, size] : {std::pair{DT_RELA, DT_RELASZ}, std::pair{DT_JMPREL, DT_PLTRELSZ}}) {
      const auto begin = dynamic_value(table), bytes = dynamic_value(size);
      if (begin != 0 && !lies_in_relocations(begin, bytes))
        result_.facts.forbidden_symbols.emplace_back("relocations outside of their sections");
    }
  }

  void take_relocation(const elf::Relocation& relocation) {
    const bool known = file_.machine == EM_X86_64    ? contains_number(kX86Relocations, relocation.type)
                       : file_.machine == EM_AARCH64 ? contains_number(kArmRelocations, relocation.type)
                                                     : true;
    if (!known)
      result_.facts.constructors.push_back(
          fmt::format("relocation of type {} at {:#x}", relocation.type, relocation.place));
    const bool inside = std::ranges::any_of(file_.sections, [&](const elf::Section& section) {
      return (section.flags & SHF_ALLOC) != 0 && (section.flags & SHF_WRITE) != 0 &&
             relocation.place >= section.address && relocation.place - section.address < section.size &&
             section.size - (relocation.place - section.address) >= sizeof(std::uint64_t);
    });
    if (!inside && relocation.type != R_X86_64_NONE)
      result_.facts.forbidden_symbols.push_back(
          fmt::format("relocation outside of the kernel's data at {:#x}", relocation.place));
  }

  std::uint64_t dynamic_value(std::int64_t tag) const {
    for (const auto& entry : file_.dynamic)
      if (entry.tag == tag) return entry.value;
    return 0;
  }

  bool lies_in_relocations(std::uint64_t begin, std::uint64_t bytes) const {
    std::uint64_t at = begin;
    while (at - begin < bytes) {
      const auto found = std::ranges::find_if(file_.sections, [&](const elf::Section& section) {
        return section.type == SHT_RELA && (section.flags & SHF_ALLOC) != 0 && at >= section.address &&
               at - section.address < section.size;
      });
      if (found == file_.sections.end()) return false;
      at = found->address + found->size;
    }
    return true;
  }

  // Writable data without a sized symbol (assembly) is state all the same. Alignment between named objects is not.
  void report_unnamed_data() {
    for (std::size_t i = 0; i < file_.sections.size(); ++i) {
      const elf::Section& section = file_.sections[i];
      if (!holds_state(section)) continue;
      const std::uint64_t named = named_bytes_[i];
      const auto objects = static_cast<std::uint64_t>(
          std::ranges::count_if(seen_, [i](const auto& symbol) { return symbol.first == i; }));
      const std::uint64_t slack = objects > 1 ? (objects - 1) * (std::max<std::uint64_t>(section.alignment, 1) - 1) : 0;
      if (section.size > named + slack)
        result_.facts.writable_globals.push_back(
            fmt::format("unnamed data in {} ({} bytes)", section.name, section.size - named));
      if ((section.flags & SHF_EXECINSTR) != 0)
        result_.facts.forbidden_symbols.push_back(fmt::format("writable code in {}", section.name));
    }
  }

  const elf::File& file_;
  std::map<std::uint64_t, std::string> functions_;
  std::set<std::pair<std::size_t, std::uint64_t>> seen_;
  std::map<std::size_t, std::uint64_t> named_bytes_;
  ElfFacts result_;
};

}  // namespace

Result<ElfFacts> read_elf_facts(std::string_view bytes) {
  KERF_TRY(const elf::File file, elf::read(bytes));
  if (file.type != ET_DYN) return fail(Errc::invalid_input, "not a shared object");
  ElfFacts facts = Reader(file).read();
  for (auto& name : forbidden_instructions(file)) facts.facts.forbidden_symbols.push_back(std::move(name));
  return facts;
}

}  // namespace kerf::cpp
