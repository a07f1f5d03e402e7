#pragma once
// What can be read off a shared object without loading it.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/artifact.hpp"

namespace kerf::cpp {

struct ElfFacts {
  StaticFacts facts;
  std::vector<std::string> exported;  ///< functions others can call
};

/// Reads a 64-bit little-endian shared object. Does not trust it: every offset is checked.
Result<ElfFacts> read_elf_facts(std::string_view bytes);

/// True for functions a kernel may import: arithmetic, memory, OpenMP, and what the compiler itself needs.
bool import_is_allowed(std::string_view symbol);

}  // namespace kerf::cpp
