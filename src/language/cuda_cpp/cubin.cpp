#include "language/cuda_cpp/cubin.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/elf.hpp"

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
constexpr int kMostRegisters = 255;  // of one thread

template <class T>
bool read_at(std::string_view bytes, std::uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

std::vector<elf::Symbol> read_symbols(const elf::File& file) {
  for (const auto& section : file.sections) {  // there is one symbol table; .nv.info refers to it by index
    if (section.type == SHT_SYMTAB && section.link < file.sections.size()) return elf::symbols(file, section);
  }
  return {};
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
std::map<std::uint32_t, FunctionNumbers> function_numbers(const std::vector<elf::Section>& sections) {
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
      const auto extent = [](std::uint32_t value) { return std::min<std::int64_t>(value, 1024); };
      most = std::min(most, extent(x) * extent(y) * extent(z));
    }
  }
  if (registers > 0 && registers <= kMostRegisters) {
    const int per_warp = (registers + 7) / 8 * 8 * 32;  // registers are handed out to warps in units of 256
    most = std::min<std::int64_t>(most, kRegistersPerMultiprocessor / per_warp * 32);
  }
  return static_cast<int>(most);
}

bool has_reserved_shared(const std::vector<elf::Section>& sections) {
  return std::any_of(sections.begin(), sections.end(),
                     [](const elf::Section& s) { return s.name.starts_with(".nv.shared.reserved"); });
}

KernelFacts kernel_facts(const elf::Symbol& symbol, const FunctionNumbers& numbers,
                         const std::vector<elf::Section>& sections) {
  KernelFacts facts;
  facts.name = std::string(symbol.name);
  facts.registers = numbers.registers;
  facts.local_bytes = std::max(numbers.frame, numbers.stack);
  facts.shared_bytes = 0;
  std::string_view info;
  for (const auto& section : sections) {
    if (section.name == ".nv.info." + facts.name) info = section.bytes;
    if (section.name == ".nv.shared." + facts.name) {
      facts.shared_bytes = static_cast<std::int64_t>(section.size);
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
  KERF_TRY(const elf::File file, elf::read(bytes));
  const auto symbols = read_symbols(file);
  const auto numbers = function_numbers(file.sections);
  CubinContents contents;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const elf::Symbol& symbol = symbols[i];
    if (symbol.type == STT_FUNC && symbol.section == SHN_UNDEF && !symbol.name.empty()) {
      contents.undefined.emplace_back(symbol.name);
    } else if (symbol.type == STT_FUNC && (symbol.other & kEntryPoint) != 0) {
      const auto found = numbers.find(static_cast<std::uint32_t>(i));
      contents.kernels.push_back(
          kernel_facts(symbol, found == numbers.end() ? FunctionNumbers{} : found->second, file.sections));
    } else if (symbol.type == STT_OBJECT && symbol.section != SHN_UNDEF && symbol.section < file.sections.size()) {
      const std::string_view section = file.sections[symbol.section].name;
      const bool constant = section.starts_with(".nv.constant3");  // the bank of __constant__
      if (constant || section.starts_with(".nv.global")) {
        contents.globals.push_back({std::string(symbol.name), static_cast<std::int64_t>(symbol.size), constant});
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
