#include "inspect/elf_code.hpp"

#include <elf.h>

#include "base/elf.hpp"

namespace kerf {

std::optional<ElfCode> read_elf_code(std::string_view object) {
  const auto file = elf::read(object);
  if (!file || file->machine != EM_X86_64) return std::nullopt;
  ElfCode code;
  for (const elf::Section& section : file->sections) {
    if ((section.flags & SHF_EXECINSTR) != 0 && section.type == SHT_PROGBITS)
      code.sections.push_back({std::string(section.name), section.address, section.bytes});
    for (const elf::Relocation& relocation : elf::relocations(*file, section))
      if (!relocation.symbol.empty()) code.slots[relocation.place] = std::string(relocation.symbol);
  }
  if (code.sections.empty()) return std::nullopt;
  return code;
}

}  // namespace kerf
