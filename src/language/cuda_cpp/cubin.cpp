#include "language/cuda_cpp/cubin.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

namespace kerf {
namespace {

// Attributes of .nv.info sections (EIATTR_*). Each entry: format, attribute, then two bytes of value, or for kSized a
// 16-bit length followed by that many bytes.
constexpr unsigned char kSized = 4;
constexpr unsigned char kMaxThreads = 0x05;
constexpr unsigned char kRequiredThreads = 0x10;
constexpr unsigned char kFrameSize = 0x11;
constexpr unsigned char kMinStackSize = 0x12;
constexpr unsigned char kRegisterCount = 0x2f;

constexpr unsigned char kEntryPoint = 0x10;     // STO_CUDA_ENTRY in st_other
constexpr std::int64_t kReservedShared = 1024;  // of every block, for the driver, on sm_90 and later
constexpr int kRegistersPerMultiprocessor = 65536;

struct Section {
  std::string name;
  Elf64_Shdr header;
  std::string_view bytes;  // empty for sections without contents in the file
};

struct Symbol {
  std::string name;
  Elf64_Sym entry;
};

template <class T>
bool read_at(std::string_view bytes, std::uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

std::string string_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto rest = table.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

Result<std::vector<Section>> read_sections(std::string_view bytes) {
  Elf64_Ehdr header;
  if (!read_at(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return fail(Errc::invalid_input, "not a 64-bit ELF file");
  }
  std::vector<Section> sections(header.e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    auto& section = sections[i];
    if (!read_at(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), section.header)) {
      return fail(Errc::invalid_input, "the section table lies outside the file");
    }
    if (section.header.sh_type == SHT_NOBITS || section.header.sh_type == SHT_NULL) continue;
    if (section.header.sh_offset > bytes.size() || bytes.size() - section.header.sh_offset < section.header.sh_size) {
      return fail(Errc::invalid_input, "a section lies outside the file");
    }
    section.bytes = bytes.substr(section.header.sh_offset, section.header.sh_size);
  }
  if (header.e_shstrndx >= sections.size()) return fail(Errc::invalid_input, "no section names");
  const auto names = sections[header.e_shstrndx].bytes;
  for (auto& section : sections) section.name = string_at(names, section.header.sh_name);
  return sections;
}

std::vector<Symbol> read_symbols(const std::vector<Section>& sections) {
  std::vector<Symbol> symbols;
  for (const auto& section : sections) {
    if (section.header.sh_type != SHT_SYMTAB || section.header.sh_link >= sections.size()) continue;
    const auto names = sections[section.header.sh_link].bytes;
    Elf64_Sym entry;
    for (std::uint64_t at = 0; read_at(section.bytes, at, entry); at += sizeof entry) {
      symbols.push_back({string_at(names, entry.st_name), entry});
    }
    break;  // there is one symbol table; .nv.info refers to it by index
  }
  return symbols;
}

struct Attribute {
  unsigned char kind = 0;
  std::string_view value;
};

std::vector<Attribute> read_attributes(std::string_view bytes) {
  std::vector<Attribute> attributes;
  while (bytes.size() >= 4) {
    const auto format = static_cast<unsigned char>(bytes[0]);
    const auto kind = static_cast<unsigned char>(bytes[1]);
    std::uint16_t size = 0;
    std::memcpy(&size, bytes.data() + 2, sizeof size);
    const std::size_t extra = format == kSized ? size : 0;
    if (bytes.size() - 4 < extra) break;
    attributes.push_back({kind, format == kSized ? bytes.substr(4, extra) : bytes.substr(2, 2)});
    bytes.remove_prefix(4 + extra);
  }
  return attributes;
}

struct FunctionNumbers {
  int registers = -1;
  std::int64_t frame = 0;  // the function's own
  std::int64_t stack = 0;  // with everything it calls
};

/// Per symbol index, from the module's .nv.info.
std::map<std::uint32_t, FunctionNumbers> function_numbers(const std::vector<Section>& sections) {
  std::map<std::uint32_t, FunctionNumbers> numbers;
  for (const auto& section : sections) {
    if (section.name != ".nv.info") continue;
    for (const auto& attribute : read_attributes(section.bytes)) {
      std::uint32_t symbol = 0, value = 0;
      if (!read_at(attribute.value, 0, symbol) || !read_at(attribute.value, 4, value)) continue;
      if (attribute.kind == kRegisterCount) numbers[symbol].registers = static_cast<int>(value);
      if (attribute.kind == kFrameSize) numbers[symbol].frame = value;
      if (attribute.kind == kMinStackSize) numbers[symbol].stack = value;
    }
  }
  return numbers;
}

/// Threads per block: the declared launch bound, and what the register file allows.
int most_threads(std::string_view info, int registers) {
  std::int64_t most = 1024;
  for (const auto& attribute : read_attributes(info)) {
    if (attribute.kind != kMaxThreads && attribute.kind != kRequiredThreads) continue;
    std::uint32_t x = 0, y = 0, z = 0;
    if (read_at(attribute.value, 0, x) && read_at(attribute.value, 4, y) && read_at(attribute.value, 8, z)) {
      most = std::min<std::int64_t>(most, static_cast<std::int64_t>(x) * y * z);
    }
  }
  if (registers > 0) {
    const int per_warp = (registers + 7) / 8 * 8 * 32;  // registers are handed out to warps in units of 256
    most = std::min<std::int64_t>(most, kRegistersPerMultiprocessor / per_warp * 32);
  }
  return static_cast<int>(most);
}

bool has_reserved_shared(const std::vector<Section>& sections) {
  return std::any_of(sections.begin(), sections.end(),
                     [](const Section& s) { return s.name.starts_with(".nv.shared.reserved"); });
}

KernelFacts kernel_facts(const Symbol& symbol, const FunctionNumbers& numbers, const std::vector<Section>& sections) {
  KernelFacts facts;
  facts.name = symbol.name;
  facts.registers = numbers.registers;
  facts.local_bytes = std::max(numbers.frame, numbers.stack);
  facts.shared_bytes = 0;
  std::string_view info;
  for (const auto& section : sections) {
    if (section.name == ".nv.info." + symbol.name) info = section.bytes;
    if (section.name == ".nv.shared." + symbol.name) {
      facts.shared_bytes = static_cast<std::int64_t>(section.header.sh_size);
      // The section starts with the driver's share where there is one.
      if (has_reserved_shared(sections))
        facts.shared_bytes = std::max<std::int64_t>(0, facts.shared_bytes - kReservedShared);
    }
  }
  facts.max_threads = most_threads(info, numbers.registers);
  return facts;
}

}  // namespace

Result<CubinContents> read_cubin(std::string_view bytes) {
  KERF_TRY(const auto sections, read_sections(bytes));
  const auto symbols = read_symbols(sections);
  const auto numbers = function_numbers(sections);
  CubinContents contents;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const auto& [name, entry] = symbols[i];
    const int type = ELF64_ST_TYPE(entry.st_info);
    if (type == STT_FUNC && entry.st_shndx == SHN_UNDEF && !name.empty()) {
      contents.undefined.push_back(name);
    } else if (type == STT_FUNC && (entry.st_other & kEntryPoint) != 0) {
      const auto found = numbers.find(static_cast<std::uint32_t>(i));
      contents.kernels.push_back(
          kernel_facts(symbols[i], found == numbers.end() ? FunctionNumbers{} : found->second, sections));
    } else if (type == STT_OBJECT && entry.st_shndx != SHN_UNDEF && entry.st_shndx < sections.size()) {
      const auto& section = sections[entry.st_shndx].name;
      const bool constant = section.starts_with(".nv.constant3");  // the bank of __constant__
      if (constant || section.starts_with(".nv.global")) {
        contents.globals.push_back({name, static_cast<std::int64_t>(entry.st_size), constant});
      }
    }
  }
  return contents;
}

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // "g" would read as the type __float128
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : symbol;
  std::free(text);
  return result;
}

}  // namespace kerf
