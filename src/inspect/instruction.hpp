#pragma once
// A machine instruction as the object code scanner needs it. Private to this room.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kerf {

struct Instruction {
  std::uint64_t address = 0;
  std::string name;          ///< mnemonic without a leading "v" or "lock "
  std::uint64_t target = 0;  ///< of a direct jump or call; size of the frame for "frame"
  std::string callee;        ///< of a call to another object
  bool jump = false, packed = false, memory = false, stack = false, locked = false;
  int bytes = 0;  ///< widest vector register
  /// Floating-point values: vector registers ("v3"), stack slots ("s-16"), general registers that keep one ("grbx").
  std::vector<std::string> written, read;
};

/// Decodes one AVX-512 (EVEX) instruction at the start of `code`: its length in `size`. Nothing when it is cut off.
/// Disassemblers of the platform know only a part of them.
std::optional<Instruction> decode_evex(std::string_view code, std::uint64_t address, std::size_t& size);

/// Whether the first operand is read as well as written.
bool accumulates(std::string_view name, bool three_operands, std::size_t operands);
bool is_fma(std::string_view name);

}  // namespace kerf
