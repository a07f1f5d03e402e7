// Reads compiled code for instructions that a kernel has no use for.

#include <capstone/capstone.h>
#include <elf.h>

#include <set>
#include <string_view>

#include "language/cpp/elf_facts.hpp"

namespace kerf::cpp {
namespace {

bool is_forbidden(unsigned instruction) {
  switch (instruction) {
    case X86_INS_RDTSC:
    case X86_INS_RDTSCP:
    case X86_INS_RDPMC:
    case X86_INS_RDRAND:
    case X86_INS_RDSEED:
    case X86_INS_CPUID:
    case X86_INS_XGETBV:
    case X86_INS_WRFSBASE:
    case X86_INS_WRGSBASE:
    case X86_INS_RDFSBASE:
    case X86_INS_RDGSBASE:
    case X86_INS_XSAVE:
    case X86_INS_XSAVE64:
    case X86_INS_XSAVEC:
    case X86_INS_XSAVEC64:
    case X86_INS_XSAVEOPT:
    case X86_INS_XSAVEOPT64:
    case X86_INS_XBEGIN: return true;
    default: return false;
  }
}

/// RDPID is younger than the disassembler: F3 0F C7 with a register and 7 in the middle of the third byte.
bool is_rdpid(const std::uint8_t* bytes, std::size_t left) {
  if (left < 4 || bytes[0] != 0xF3) return false;
  const std::size_t at = (bytes[1] & 0xF0) == 0x40 ? 2 : 1;
  return left >= at + 3 && bytes[at] == 0x0F && bytes[at + 1] == 0xC7 && (bytes[at + 2] & 0xF8) == 0xF8;
}

/// Opcodes 0F 00 to 0F 03: tables and words of the system, segment limits (one of which is the processor's number),
/// clocks and waits that are younger than the disassembler (RDPRU, MWAITX), protection keys. No compiler uses them.
bool is_system(const std::uint8_t* bytes, std::size_t left) {
  constexpr std::string_view kPrefixes = "\x66\xF2\xF3\x2E\x36\x3E\x26\x64\x65\x67";
  std::size_t at = 0;
  while (at < left && kPrefixes.find(static_cast<char>(bytes[at])) != std::string_view::npos) ++at;
  if (at < left && (bytes[at] & 0xF0) == 0x40) ++at;
  return at + 1 < left && bytes[at] == 0x0F && bytes[at + 1] <= 0x03;
}

/// Bytes of a vector instruction (VEX, EVEX), which the format alone tells; 0 for others and for what is cut off. The
/// disassembler does not know them all, and whoever reads on inside of one finds instructions that are not there.
std::size_t vector_instruction_bytes(const std::uint8_t* bytes, std::size_t left) {
  constexpr std::string_view kPrefixes = "\x2E\x36\x3E\x26\x64\x65\x67";
  std::size_t at = 0;
  while (at < left && kPrefixes.find(static_cast<char>(bytes[at])) != std::string_view::npos) ++at;
  if (left < at + 7) return 0;  // the longest beginning: four bytes, opcode, two of an address
  const unsigned first = bytes[at];
  if (first != 0x62 && first != 0xC4 && first != 0xC5) return 0;
  const unsigned map = first == 0xC5 ? 1 : first == 0xC4 ? bytes[at + 1] & 0x1Fu : bytes[at + 1] & 7u;
  at += first == 0xC5 ? 2 : first == 0xC4 ? 3 : 4;
  const unsigned opcode = bytes[at++];
  if (map == 1 && opcode == 0x77) return at;  // vzeroupper has no operands
  const unsigned mode = bytes[at] >> 6, base = bytes[at] & 7u;
  ++at;
  const bool scaled = mode != 3 && base == 4;
  const unsigned last = scaled ? bytes[at++] & 7u : base;
  if (mode == 1) at += 1;
  if (mode == 2 || (mode == 0 && last == 5)) at += 4;
  const bool immediate =
      map == 3 ||
      (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xC2 || (opcode >= 0xC4 && opcode <= 0xC6)));
  at += immediate ? 1 : 0;
  return at <= left ? at : 0;
}

void scan(csh engine, std::string_view code, std::uint64_t address, std::set<std::string>& found) {
  cs_insn* instruction = cs_malloc(engine);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
  std::size_t left = code.size();
  bool in_step = true;  // false inside of an instruction that the disassembler does not know
  while (left > 0) {
    if (is_rdpid(bytes, left)) found.insert("instruction rdpid");
    const bool system = in_step && is_system(bytes, left);
    in_step = cs_disasm_iter(engine, &bytes, &left, &address, instruction);
    if (system || (in_step && is_forbidden(instruction->id)))
      found.insert(std::string("instruction ") +
                   (in_step ? cs_insn_name(engine, instruction->id) : "of the system (0F 00 to 0F 03)"));
    if (in_step) continue;
    const std::size_t known = vector_instruction_bytes(bytes, left), skipped = known > 0 ? known : 1;
    in_step = known > 0;
    bytes += skipped, left -= skipped, address += skipped;
  }
  cs_free(instruction, 1);
}

}  // namespace

std::vector<std::string> forbidden_instructions(const elf::File& file) {
  std::set<std::string> found;
  csh engine = 0;
  if (file.machine != EM_X86_64 || cs_open(CS_ARCH_X86, CS_MODE_64, &engine) != CS_ERR_OK) return {};
  for (const auto& section : file.sections) {
    if ((section.flags & SHF_EXECINSTR) != 0) scan(engine, section.bytes, section.address, found);
  }
  cs_close(&engine);
  return {found.begin(), found.end()};
}

}  // namespace kerf::cpp
