#include "language/cpp/elf_facts.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace kerf::cpp {
namespace {

// Written by the loader while it relocates, then made read-only or used by the compiler's start-up code alone.
constexpr std::string_view kLoaderSections[] = {
    ".init_array",   ".fini_array",  ".preinit_array",     ".ctors", ".dtors",          ".dynamic",  ".got",
    ".got.plt",      ".data.rel.ro", ".data.rel.ro.local", ".jcr",   ".tm_clone_table", ".eh_frame", ".rela.dyn",
    ".relro_padding"};
// Bytes of the compiler's own start-up code in .data and .bss (__dso_handle, completed.0), with room for alignment.
constexpr std::uint64_t kStartupBytes = 16;
constexpr std::string_view kStartupSymbols[] = {
    "completed.0", "completed", "__dso_handle", "__TMC_END__", "_DYNAMIC", "_GLOBAL_OFFSET_TABLE_",
    "__bss_start", "_edata",    "_end",         "_fini",       "_init"};

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
    read_constructors();
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
    if (symbol.st_size == 0 || contains(kStartupSymbols, name) || !holds_state(sections_[symbol.st_shndx])) return;
    if (name == "DW.ref.__gxx_personality_v0" && symbol.st_size == sizeof(void*)) {  // the compiler's, for exceptions
      named_bytes_[symbol.st_shndx] += symbol.st_size;
      return;
    }
    if (!seen_.insert({symbol.st_shndx, symbol.st_value}).second) return;
    result_.facts.writable_globals.push_back(fmt::format("{} ({} bytes)", name, symbol.st_size));
    named_bytes_[symbol.st_shndx] += symbol.st_size;
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

  // The compiler's start-up code has one entry in each array; anything more is the candidate's.
  void read_constructors() {
    for (const auto& section : sections_) {
      const std::string name = section_name(section);
      const bool init = section.sh_type == SHT_INIT_ARRAY, fini = section.sh_type == SHT_FINI_ARRAY;
      if (section.sh_type == SHT_PREINIT_ARRAY || ((name == ".ctors" || name == ".dtors") && section.sh_size > 16))
        result_.facts.constructors.push_back("section " + name);
      if (!init && !fini) continue;
      bool own = false;
      std::uint64_t listed = 0;
      for (const std::uint64_t target : relocated_targets(section)) {
        ++listed;
        const auto found = functions_.find(target);
        const std::string function = found != functions_.end() ? found->second : fmt::format("code at {:#x}", target);
        if (!own && function == (init ? "frame_dummy" : "__do_global_dtors_aux")) {
          own = true;
        } else {
          result_.facts.constructors.push_back(function);
        }
      }
      if (listed < section.sh_size / sizeof(std::uint64_t)) result_.facts.constructors.push_back("entries of " + name);
    }
  }

  // Writable data without a symbol (assembly, stripped names) is state all the same.
  void report_unnamed_data() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (!holds_state(sections_[i])) continue;
      const std::uint64_t named = named_bytes_[i] + kStartupBytes;
      // Alignment between named objects is not state; a symbol explains at most 64 bytes of it.
      const std::uint64_t slack = 64 * static_cast<std::uint64_t>(seen_.size());
      if (sections_[i].sh_size > named + slack)
        result_.facts.writable_globals.push_back(fmt::format(
            "unnamed data in {} ({} bytes)", section_name(sections_[i]), sections_[i].sh_size - named_bytes_[i]));
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
