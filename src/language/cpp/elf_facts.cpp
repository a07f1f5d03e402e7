#include "language/cpp/elf_facts.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace kerf::cpp {
namespace {

// Filled in by the loader and read-only from then on. They are known by name only; the worker makes them read-only in
// memory too, so a variable that hides in one of them cannot be written.
constexpr std::string_view kLoaderSections[] = {".dynamic",     ".got",        ".got.plt",
                                                ".data.rel.ro", ".init_array", ".fini_array"};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Result<ElfFacts> read() {
    Elf64_Ehdr header;
    if (!copy(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN)
      return fail(Errc::invalid_input, "not a 64-bit shared object");
    sections_.resize(header.e_shnum);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (!copy(header.e_shoff + i * header.e_shentsize, sections_[i]))
        return fail(Errc::invalid_input, "section table cut off");
    }
    if (header.e_shstrndx >= sections_.size()) return fail(Errc::invalid_input, "no section names");
    names_ = sections_[header.e_shstrndx];
    read_symbols();
    read_load_time_code(header);
    report_unnamed_data();
    return std::move(result_);
  }

 private:
  template <class T>
  bool copy(std::uint64_t offset, T& into) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return false;
    std::memcpy(&into, bytes_.data() + offset, sizeof(T));
    return true;
  }

  std::string text(const Elf64_Shdr& table, std::uint64_t index) const {
    if (table.sh_type == SHT_NOBITS || index >= table.sh_size) return "";
    const std::uint64_t at = table.sh_offset + index;
    if (at >= bytes_.size()) return "";
    const std::string_view rest = bytes_.substr(at, table.sh_size - index);
    return std::string(rest.substr(0, rest.find('\0')));
  }
  std::string section_name(const Elf64_Shdr& section) const { return text(names_, section.sh_name); }

  bool holds_state(const Elf64_Shdr& section) const {
    return (section.sh_flags & SHF_WRITE) != 0 && (section.sh_flags & SHF_ALLOC) != 0 && section.sh_size > 0 &&
           !contains(kLoaderSections, section_name(section));
  }

  void read_symbols() {
    for (const auto& section : sections_) {
      if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
      if (section.sh_link >= sections_.size()) continue;
      const std::uint64_t count = section.sh_size / sizeof(Elf64_Sym);
      for (std::uint64_t i = 1; i < count; ++i) {
        Elf64_Sym symbol;
        if (!copy(section.sh_offset + i * sizeof(Elf64_Sym), symbol)) break;
        take_symbol(section.sh_type == SHT_DYNSYM, symbol, text(sections_[section.sh_link], symbol.st_name));
      }
    }
    std::ranges::sort(result_.facts.forbidden_symbols);
  }

  void take_symbol(bool dynamic, const Elf64_Sym& symbol, const std::string& name) {
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    if (type == STT_GNU_IFUNC && !dynamic) result_.facts.constructors.push_back(name + " (resolver)");
    if (dynamic) {
      if (symbol.st_shndx == SHN_UNDEF) {
        if (!name.empty() && !import_is_allowed(name)) result_.facts.forbidden_symbols.push_back(name);
      } else if (type == STT_FUNC) {
        result_.exported.push_back(name);
      }
      return;
    }
    if (type == STT_FUNC && symbol.st_shndx != SHN_UNDEF) functions_[symbol.st_value] = name;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections_.size()) return;
    if (type != STT_OBJECT && type != STT_TLS && type != STT_NOTYPE) return;
    if (symbol.st_size == 0 || !holds_state(sections_[symbol.st_shndx])) return;
    if (!seen_.insert({symbol.st_shndx, symbol.st_value}).second) return;
    named_bytes_[symbol.st_shndx] += symbol.st_size;
    // The compiler's own pointer for exceptions is no state.
    if (name == "DW.ref.__gxx_personality_v0" && symbol.st_size == sizeof(std::uint64_t)) return;
    result_.facts.writable_globals.push_back(fmt::format("{} ({} bytes)", name, symbol.st_size));
  }

  // In a shared object the arrays hold zeros and relocations fill them; the addend is the function.
  std::vector<std::uint64_t> relocated_targets(const Elf64_Shdr& array) const {
    std::vector<std::uint64_t> targets;
    for (const auto& section : sections_) {
      if (section.sh_type != SHT_RELA) continue;
      for (std::uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Rela); ++i) {
        Elf64_Rela relocation;
        if (!copy(section.sh_offset + i * sizeof(Elf64_Rela), relocation)) break;
        if (relocation.r_offset >= array.sh_addr && relocation.r_offset < array.sh_addr + array.sh_size)
          targets.push_back(static_cast<std::uint64_t>(relocation.r_addend));
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
  void read_load_time_code(const Elf64_Ehdr& header) {
    for (const auto& section : sections_) {
      const std::string name = section_name(section);
      if (name == ".init" || name == ".fini") result_.facts.constructors.push_back("code in " + name);
    }
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
      Elf64_Phdr segment;
      if (!copy(header.e_phoff + i * header.e_phentsize, segment) || segment.p_type != PT_DYNAMIC) continue;
      for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        if (!copy(segment.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
        take_dynamic(entry);
      }
    }
  }

  void take_dynamic(const Elf64_Dyn& entry) {
    auto& constructors = result_.facts.constructors;
    switch (entry.d_tag) {
      case DT_INIT:
      case DT_FINI: constructors.push_back(function_at(entry.d_un.d_ptr)); break;
      case DT_INIT_ARRAY:
      case DT_FINI_ARRAY: {
        std::vector<std::uint64_t> targets;
        for (const auto& section : sections_) {
          if (section.sh_addr == entry.d_un.d_ptr && section.sh_size > 0) targets = relocated_targets(section);
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

  // Writable data without a sized symbol (assembly) is state all the same. Alignment between named objects is not.
  void report_unnamed_data() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (!holds_state(sections_[i])) continue;
      const std::uint64_t named = named_bytes_[i];
      const auto objects = static_cast<std::uint64_t>(
          std::ranges::count_if(seen_, [i](const auto& symbol) { return symbol.first == i; }));
      const std::uint64_t slack =
          objects > 1 ? (objects - 1) * (std::max<std::uint64_t>(sections_[i].sh_addralign, 1) - 1) : 0;
      if (sections_[i].sh_size > named + slack)
        result_.facts.writable_globals.push_back(
            fmt::format("unnamed data in {} ({} bytes)", section_name(sections_[i]), sections_[i].sh_size - named));
      if ((sections_[i].sh_flags & SHF_EXECINSTR) != 0)
        result_.facts.forbidden_symbols.push_back("writable code in " + section_name(sections_[i]));
    }
  }

  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  Elf64_Shdr names_{};
  std::map<std::uint64_t, std::string> functions_;
  std::set<std::pair<std::size_t, std::uint64_t>> seen_;
  std::map<std::size_t, std::uint64_t> named_bytes_;
  ElfFacts result_;
};

}  // namespace

Result<ElfFacts> read_elf_facts(std::string_view bytes) { return Reader(bytes).read(); }

}  // namespace kerf::cpp
