#pragma once
// Executable bytes of an x86-64 shared object and the names of what it calls. Private to this room.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kerf {

struct CodeSection {
  std::string name;  ///< ".text", ".plt.sec", ...
  std::uint64_t address = 0;
  std::string_view bytes;  ///< into the object
};

struct ElfCode {
  std::vector<CodeSection> sections;           ///< executable ones
  std::map<std::uint64_t, std::string> slots;  ///< address of a relocated word to the symbol it will hold
};

/// Nothing for bytes that are not a well-formed 64-bit x86 shared object; never reads outside of them.
std::optional<ElfCode> read_elf_code(std::string_view object);

}  // namespace kerf
