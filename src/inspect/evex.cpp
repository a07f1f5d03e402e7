#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "inspect/instruction.hpp"

namespace kerf {
namespace {

struct Fields {
  int map = 0, opcode = 0, prefix = 0, length = 0;
  int reg = 0, rm = 0, second = 0;
  bool memory = false, stack = false, indexed = false;
  std::int64_t displacement = 0;
  std::size_t size = 0;
};

bool has_immediate(int map, int opcode) {
  if (map == 3) return true;
  static constexpr std::array<int, 9> kOpcodes{0x70, 0x71, 0x72, 0x73, 0xC2, 0xC4, 0xC5, 0xC6, 0xA4};
  return map == 1 && std::find(kOpcodes.begin(), kOpcodes.end(), opcode) != kOpcodes.end();
}

std::optional<Fields> read_fields(std::string_view code) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(code[at])); };
  if (code.size() < 6) return std::nullopt;
  const unsigned p0 = byte(1), p1 = byte(2), p2 = byte(3), modrm = byte(5);
  Fields f;
  f.map = static_cast<int>(p0 & 7);
  f.prefix = static_cast<int>(p1 & 3);
  f.opcode = static_cast<int>(byte(4));
  const unsigned inverted = ~p0;
  f.reg = static_cast<int>((modrm >> 3 & 7) | (inverted >> 7 & 1) << 3 | (inverted >> 4 & 1) << 4);
  f.second = static_cast<int>((~p1 >> 3 & 15) | (~p2 >> 3 & 1) << 4);
  const unsigned mode = modrm >> 6, low = modrm & 7;
  std::size_t at = 6;
  if (mode == 3) {
    f.rm = static_cast<int>(low | (inverted >> 5 & 1) << 3 | (inverted >> 6 & 1) << 4);
    f.length = (p2 & 0x10) != 0 ? 64 : 16 << (p2 >> 5 & 3);  // with rounding control the length is 512
  } else {
    f.memory = true;
    f.length = 16 << (p2 >> 5 & 3);
    unsigned base = low | (inverted >> 5 & 1) << 3;
    if (low == 4) {
      if (code.size() < 7) return std::nullopt;
      const unsigned sib = byte(6);
      base = (sib & 7) | (inverted >> 5 & 1) << 3;
      f.indexed = ((sib >> 3 & 7) | (inverted >> 6 & 1) << 3) != 4;
      at = 7;
    }
    const bool wide = mode == 2 || (mode == 0 && (low == 5 || (low == 4 && (base & 7) == 5)));
    const std::size_t bytes = wide ? 4 : mode == 1 ? 1 : 0;
    if (code.size() < at + bytes) return std::nullopt;
    if (bytes == 1) f.displacement = static_cast<signed char>(code[at]) * static_cast<std::int64_t>(f.length);
    if (bytes == 4)
      f.displacement =
          static_cast<std::int32_t>(byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24);
    at += bytes;
    f.stack = base == 4 || (base == 5 && f.displacement < 0 && mode != 0);
  }
  f.size = at + (has_immediate(f.map, f.opcode) ? 1 : 0);
  if (code.size() < f.size) return std::nullopt;
  return f;
}

/// How the instruction's operands are used.
struct Shape {
  std::string name = "other";
  bool store = false;      // the second field is written
  bool unary = false;      // the vvvv field is not used
  bool no_result = false;  // into a mask or flags
};

Shape arithmetic(int opcode, int prefix) {
  static constexpr std::array<const char*, 4> kSuffix{"ps", "pd", "ss", "sd"};
  const std::string suffix = kSuffix[static_cast<std::size_t>(prefix)];
  switch (opcode) {
    case 0x10:
    case 0x28: return {"mov" + suffix, false, true};
    case 0x11:
    case 0x29: return {"mov" + suffix, true, true};
    case 0x6F: return {"movdq", false, true};
    case 0x7F: return {"movdq", true, true};
    case 0x2B:
    case 0xE7: return {"movnt", true, true};
    case 0x12: return {"movsldup", false, true};
    case 0x16: return {"movshdup", false, true};
    case 0x14:
    case 0x15: return {"unpck" + suffix};
    case 0x51: return {"sqrt" + suffix, false, true};
    case 0x54:
    case 0x55: return {"and" + suffix};
    case 0x56: return {"or" + suffix};
    case 0x57: return {"xor" + suffix};
    case 0x58: return {"add" + suffix};
    case 0x59: return {"mul" + suffix};
    case 0x5C: return {"sub" + suffix};
    case 0x5D: return {"min" + suffix};
    case 0x5E: return {"div" + suffix};
    case 0x5F: return {"max" + suffix};
    case 0x5B:
    case 0xE6:
    case 0x79:
    case 0x7B: return {"cvtps2dq", false, true};
    case 0x2E:
    case 0x2F: return {"comis", false, true, true};
    case 0x6E: return {"movd", false, true};
    case 0x7E: return {"movd", true, true};
    case 0x72:
    case 0x73: return {"pslld", false, true};
    case 0xC2: return {"cmp" + suffix, false, false, true};
    case 0xC6: return {"shufps"};
    case 0xEF: return {"pxord"};
    case 0xFE:
    case 0xD4: return {"paddd"};
    default: return {"pother"};
  }
}

Shape shape_of(const Fields& f) {
  if (f.map == 1) return arithmetic(f.opcode, f.prefix);
  if (f.map == 2) {
    const int group = f.opcode >> 4, which = f.opcode & 15;
    if ((group == 9 || group == 0xA || group == 0xB) && which >= 6) {
      const bool scalar = (which & 1) != 0 && which >= 9;
      const char* kind = which >= 0xC ? "fnmadd" : which >= 8 && which % 4 >= 2 ? "fmsub" : "fmadd";
      return {std::string(kind) + (scalar ? "ss" : "ps")};
    }
    switch (f.opcode) {
      case 0x18:
      case 0x19:
      case 0x1A:
      case 0x1B:
      case 0x58:
      case 0x59: return {"broadcastps", false, true};
      case 0x16:
      case 0x36:
      case 0x75:
      case 0x76:
      case 0x77:
      case 0x7D:
      case 0x7E:
      case 0x7F: return {"permps"};
      case 0x2C:
      case 0x2D: return {"scalef"};
      case 0x4C:
      case 0x4D: return {"rcp14", false, true};
      case 0x4E:
      case 0x4F: return {"rsqrt14", false, true};
      case 0x50:
      case 0x51: return {"pdpbusd"};
      case 0x52: return {"dpbf16"};
      case 0x47: return {"psllvd"};
      default: return {"pother"};
    }
  }
  if (f.map == 3) switch (f.opcode) {
      case 0x03: return {"permps"};  // valign: lanes move
      case 0x08:
      case 0x09:
      case 0x0A:
      case 0x0B: return {"rndscale", false, true};
      case 0x19:
      case 0x1B:
      case 0x39:
      case 0x3B: return {"extractf", true, true};
      case 0x18:
      case 0x1A:
      case 0x38:
      case 0x3A: return {"insertf"};
      case 0x23:
      case 0x43: return {"shuff32x4"};
      case 0x1E:
      case 0x1F:
      case 0x3E:
      case 0x3F:
      case 0x66:
      case 0x67: return {"pcmp", false, false, true};
      default: return {"pother"};
    }
  return {"pother"};
}

}  // namespace

bool is_fma(std::string_view name) {
  return name.starts_with("fmadd") || name.starts_with("fmsub") || name.starts_with("fnm");
}

bool accumulates(std::string_view name, bool three_operands, std::size_t operands) {
  if (is_fma(name)) return true;
  if (three_operands) return false;
  for (const char* copies : {"mov", "cvt", "sqrt", "rsqrt", "rcp"})
    if (name.starts_with(copies)) return false;
  return operands >= 2;
}

std::optional<Instruction> decode_evex(std::string_view code, std::uint64_t address, std::size_t& size) {
  const auto fields = read_fields(code);
  if (!fields) return std::nullopt;
  const Fields& f = *fields;
  size = f.size;
  const Shape shape = shape_of(f);
  Instruction one;
  one.address = address;
  one.name = shape.name;
  one.memory = f.memory;
  one.stack = f.stack;
  const bool scalar = one.name.ends_with("ss") || one.name.ends_with("sd") || one.name == "comis" || one.name == "movd";
  one.bytes = scalar ? 16 : f.length;
  one.packed = !scalar;
  const std::string first = fmt::format("v{}", f.reg), second = fmt::format("v{}", f.second);
  std::string third;
  if (!f.memory) third = one.name == "movd" ? "" : fmt::format("v{}", f.rm);
  if (f.stack && !f.indexed) third = fmt::format("s{}", f.displacement);
  if (shape.store) {
    if (!third.empty()) one.written.push_back(third);
    one.read.push_back(first);
    return one;
  }
  if (!shape.no_result) one.written.push_back(first);
  if (is_fma(one.name) || (shape.no_result && shape.unary)) one.read.push_back(first);
  if (!shape.unary) one.read.push_back(second);
  if (!third.empty()) one.read.push_back(third);
  if ((one.name.starts_with("xor") || one.name == "pxord") && second == third) one.read.clear();  // makes a zero
  return one;
}

}  // namespace kerf
