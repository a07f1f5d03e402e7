#pragma once
// What can be read off a shared object without loading it.

#include <string>
#include <string_view>
#include <vector>

#include "base/elf.hpp"
#include "base/result.hpp"
#include "model/artifact.hpp"

namespace kerf::cpp {

struct ElfFacts {
  StaticFacts facts;
  std::vector<std::string> exported;  ///< functions others can call
};

/// Reads a 64-bit little-endian shared object. Does not trust it: every offset is checked.
Result<ElfFacts> read_elf_facts(std::string_view bytes);

/// Instructions in the file's code that tell a kernel when or where it runs, each once: "instruction rdtsc". Read one
/// after the other from the beginning of each section; what is jumped to inside of an instruction is not seen.
std::vector<std::string> forbidden_instructions(const elf::File& file);

/// True for functions a kernel may import: arithmetic, memory, OpenMP, and what the compiler itself needs.
bool import_is_allowed(std::string_view symbol);

}  // namespace kerf::cpp
