#include "inspect/elf_code.hpp"

#include <elf.h>

#include <cstring>

namespace kerf {
namespace {

template <class T>
std::optional<T> read(std::string_view bytes, std::uint64_t at) {
  T value;
  if (at > bytes.size() || bytes.size() - at < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::optional<std::string_view> piece(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return std::nullopt;
  return bytes.substr(at, size);
}

std::string text_at(std::string_view table, std::uint64_t at) {
  if (at >= table.size()) return "";
  const auto rest = table.substr(at);
  return std::string(rest.substr(0, rest.find('\0')));
}

}  // namespace

std::optional<ElfCode> read_elf_code(std::string_view object) {
  const auto header = read<Elf64_Ehdr>(object, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_machine != EM_X86_64 || header->e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  std::vector<Elf64_Shdr> sections;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto section = read<Elf64_Shdr>(object, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return std::nullopt;
    sections.push_back(*section);
  }
  const auto contents = [&](std::uint64_t index) -> std::string_view {
    if (index >= sections.size() || sections[index].sh_type == SHT_NOBITS) return {};
    return piece(object, sections[index].sh_offset, sections[index].sh_size).value_or(std::string_view{});
  };
  ElfCode code;
  const std::string_view names = contents(header->e_shstrndx);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Elf64_Shdr& section = sections[i];
    if ((section.sh_flags & SHF_EXECINSTR) != 0 && section.sh_type == SHT_PROGBITS)
      code.sections.push_back({text_at(names, section.sh_name), section.sh_addr, contents(i)});
    if (section.sh_type != SHT_RELA || section.sh_link >= sections.size()) continue;
    const std::string_view symbols = contents(section.sh_link);
    const std::string_view strings = contents(sections[section.sh_link].sh_link);
    const std::string_view relocations = contents(i);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= relocations.size(); at += sizeof(Elf64_Rela)) {
      const auto relocation = read<Elf64_Rela>(relocations, at);
      const auto symbol = read<Elf64_Sym>(symbols, ELF64_R_SYM(relocation->r_info) * sizeof(Elf64_Sym));
      if (symbol)
        if (std::string name = text_at(strings, symbol->st_name); !name.empty())
          code.slots[relocation->r_offset] = std::move(name);
    }
  }
  if (code.sections.empty()) return std::nullopt;
  return code;
}

}  // namespace kerf
