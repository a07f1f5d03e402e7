#pragma once
// The one reader of ELF files: sections, symbols, relocations and dynamic entries of a 64-bit little-endian file. It
// trusts nothing in the file: every offset is checked, and what it returns points into the bytes that were given.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kerf::elf {

// Numbers keep the meaning that <elf.h> gives them (SHT_*, SHF_*, STT_*, ...).

struct Section {
  std::string_view name;
  std::uint32_t type = 0, link = 0;
  std::uint64_t flags = 0, address = 0, size = 0, alignment = 0;
  std::string_view bytes;  ///< empty where the file holds no contents (.bss)
};

struct Symbol {
  std::string_view name;
  std::uint64_t value = 0, size = 0;
  std::uint16_t section = 0;  ///< index; may be one of the reserved ones, or beyond the table
  std::uint8_t type = 0;
  std::uint8_t other = 0;
};

struct Relocation {
  std::uint64_t place = 0;  ///< address that is filled in
  std::int64_t addend = 0;
  std::string_view symbol;  ///< "" when it refers to none
  std::uint32_t type = 0;   ///< of the machine: R_X86_64_*, R_AARCH64_*
};

struct DynamicEntry {
  std::int64_t tag = 0;
  std::uint64_t value = 0;
};

struct File {
  std::uint16_t type = 0, machine = 0;
  std::vector<Section> sections;
  std::vector<DynamicEntry> dynamic;  ///< of the segment that the loader reads, up to its end mark
};

/// Errc::invalid_input unless `bytes` are a 64-bit little-endian ELF file with a section table whose sections, names
/// and dynamic segment all lie inside it. The result is valid as long as `bytes` are.
Result<File> read(std::string_view bytes);

/// Entries of a symbol table (SHT_SYMTAB or SHT_DYNSYM) in order, the empty first one included: others refer to them by
/// index. Empty for other sections.
std::vector<Symbol> symbols(const File& file, const Section& table);

/// Entries of a SHT_RELA section; empty for other sections.
std::vector<Relocation> relocations(const File& file, const Section& table);

}  // namespace kerf::elf
