#include "language/cpp/elf_facts.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/elf.hpp"

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
  explicit Reader(const elf::File& file) : file_(file) {}

  ElfFacts read() {
    read_symbols();
    read_load_time_code();
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
    if (symbol.type == STT_GNU_IFUNC && !dynamic) result_.facts.constructors.push_back(name + " (resolver)");
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
    // The compiler's own pointer for exceptions is no state.
    if (name == "DW.ref.__gxx_personality_v0" && symbol.size == sizeof(std::uint64_t)) return;
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
  return Reader(file).read();
}

}  // namespace kerf::cpp
