#include "base/elf.hpp"

#include <elf.h>

#include <cstring>
#include <optional>

namespace kerf::elf {
namespace {

template <class T>
std::optional<T> record_at(std::string_view bytes, std::uint64_t offset) {
  T value;
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<std::string_view> piece(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  return bytes.substr(offset, size);
}

/// The `index`-th record of a table without gaps.
template <class T>
std::optional<T> entry_at(std::string_view table, std::uint64_t index) {
  if (index >= table.size() / sizeof(T)) return std::nullopt;
  return record_at<T>(table, index * sizeof(T));
}

std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

std::string_view contents(const File& file, std::uint64_t index) {
  return index < file.sections.size() ? file.sections[index].bytes : std::string_view{};
}

Status read_sections(std::string_view bytes, const Elf64_Ehdr& header, File& file) {
  if (header.e_shnum > 0 && header.e_shentsize != sizeof(Elf64_Shdr))
    return fail(Errc::invalid_input, "section headers of an unknown size");
  const auto table = piece(bytes, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (!table) return fail(Errc::invalid_input, "the section table lies outside the file");
  std::vector<std::uint32_t> names;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto entry = entry_at<Elf64_Shdr>(*table, i);
    Section section;
    section.type = entry->sh_type;
    section.link = entry->sh_link;
    section.flags = entry->sh_flags;
    section.address = entry->sh_addr;
    section.size = entry->sh_size;
    section.alignment = entry->sh_addralign;
    if (section.type != SHT_NOBITS && section.type != SHT_NULL) {
      const auto inside = piece(bytes, entry->sh_offset, entry->sh_size);
      if (!inside) return fail(Errc::invalid_input, "a section lies outside the file");
      section.bytes = *inside;
    }
    file.sections.push_back(section);
    names.push_back(entry->sh_name);
  }
  if (header.e_shstrndx >= file.sections.size()) return fail(Errc::invalid_input, "no section names");
  const std::string_view texts = contents(file, header.e_shstrndx);
  for (std::size_t i = 0; i < names.size(); ++i) file.sections[i].name = text_at(texts, names[i]);
  return {};
}

Status read_dynamic(std::string_view bytes, const Elf64_Ehdr& header, File& file) {
  if (header.e_phnum == 0) return {};
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return fail(Errc::invalid_input, "program headers of an unknown size");
  const auto table = piece(bytes, header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  if (!table) return fail(Errc::invalid_input, "the program headers lie outside the file");
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = entry_at<Elf64_Phdr>(*table, i);
    if (segment->p_type != PT_DYNAMIC) continue;
    const auto entries = piece(bytes, segment->p_offset, segment->p_filesz);
    if (!entries) return fail(Errc::invalid_input, "the dynamic segment lies outside the file");
    for (std::uint64_t at = 0;; ++at) {
      const auto entry = entry_at<Elf64_Dyn>(*entries, at);
      if (!entry || entry->d_tag == DT_NULL) break;
      file.dynamic.push_back({entry->d_tag, entry->d_un.d_val});
    }
  }
  return {};
}

}  // namespace

Result<File> read(std::string_view bytes) {
  const auto header = record_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(Errc::invalid_input, "not a 64-bit little-endian ELF file");
  File file;
  file.type = header->e_type;
  file.machine = header->e_machine;
  KERF_TRY_VOID(read_sections(bytes, *header, file));
  KERF_TRY_VOID(read_dynamic(bytes, *header, file));
  return file;
}

std::vector<Symbol> symbols(const File& file, const Section& table) {
  std::vector<Symbol> found;
  if (table.type != SHT_SYMTAB && table.type != SHT_DYNSYM) return found;
  const std::string_view names = contents(file, table.link);
  for (std::uint64_t i = 0;; ++i) {
    const auto entry = entry_at<Elf64_Sym>(table.bytes, i);
    if (!entry) return found;
    found.push_back({text_at(names, entry->st_name), entry->st_value, entry->st_size, entry->st_shndx,
                     static_cast<std::uint8_t>(ELF64_ST_TYPE(entry->st_info)), entry->st_other});
  }
}

std::vector<Relocation> relocations(const File& file, const Section& table) {
  std::vector<Relocation> found;
  if (table.type != SHT_RELA) return found;
  const std::string_view entries = contents(file, table.link);
  const std::string_view names =
      table.link < file.sections.size() ? contents(file, file.sections[table.link].link) : std::string_view{};
  for (std::uint64_t i = 0;; ++i) {
    const auto entry = entry_at<Elf64_Rela>(table.bytes, i);
    if (!entry) return found;
    const auto symbol = entry_at<Elf64_Sym>(entries, ELF64_R_SYM(entry->r_info));
    found.push_back({entry->r_offset, entry->r_addend, symbol ? text_at(names, symbol->st_name) : std::string_view{},
                     static_cast<std::uint32_t>(ELF64_R_TYPE(entry->r_info))});
  }
}

}  // namespace kerf::elf
