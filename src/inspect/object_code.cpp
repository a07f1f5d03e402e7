// Object code of the host: which instructions a kernel uses, what its innermost loops carry, and whom it calls.

#include <capstone/capstone.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "inspect/elf_code.hpp"
#include "inspect/evidence.hpp"
#include "inspect/instruction.hpp"

namespace kerf {
namespace {

constexpr std::uint8_t kEvex = 0x62;       // the first byte of every AVX-512 instruction in 64-bit code
constexpr int kTileAccumulators = 6;       // of 16 or 32 vector registers
constexpr std::int64_t kTileBytes = 1024;  // a stack frame of this size holds a tile

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Number of the vector register, or -1.
int vector_register(x86_reg reg) {
  if (reg >= X86_REG_XMM0 && reg <= X86_REG_XMM31) return reg - X86_REG_XMM0;
  if (reg >= X86_REG_YMM0 && reg <= X86_REG_YMM31) return reg - X86_REG_YMM0;
  if (reg >= X86_REG_ZMM0 && reg <= X86_REG_ZMM31) return reg - X86_REG_ZMM0;
  return -1;
}
int register_bytes(x86_reg reg) {
  if (reg >= X86_REG_ZMM0 && reg <= X86_REG_ZMM31) return 64;
  if (reg >= X86_REG_YMM0 && reg <= X86_REG_YMM31) return 32;
  if (reg >= X86_REG_XMM0 && reg <= X86_REG_XMM31) return 16;
  return 0;
}

bool is_stack(const x86_op_mem& memory) {
  return memory.base == X86_REG_RSP || memory.base == X86_REG_ESP || (memory.base == X86_REG_RBP && memory.disp < 0);
}

bool is_packed(std::string_view name) {
  return name.ends_with("ps") || name.ends_with("pd") || starts(name, "mov") || starts(name, "p") ||
         contains(name, "dq");
}
bool is_scalar(std::string_view name) { return name.ends_with("ss") || name.ends_with("sd"); }

/// A general register by its 64-bit name: values wait in them while functions are called.
std::string general_register(csh engine, x86_reg reg) {
  const char* known = cs_reg_name(engine, reg);
  std::string name = known == nullptr ? "" : known;
  if (name.starts_with("e")) name[0] = 'r';
  if (name.size() > 2 && name.ends_with("d")) name.pop_back();
  return name;
}

Instruction translate(csh engine, const cs_insn& raw) {
  Instruction one;
  one.address = raw.address;
  std::string_view name = raw.mnemonic;
  if (starts(name, "lock ")) {
    one.locked = true;
    name.remove_prefix(5);
  }
  const cs_x86& x86 = raw.detail->x86;
  bool vector = false;
  for (int i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& op = x86.operands[i];
    if (op.type == X86_OP_REG && vector_register(op.reg) >= 0) vector = true;
  }
  const bool vex = vector && starts(name, "v");
  if (vex) name.remove_prefix(1);
  one.name = std::string(name);
  if (raw.detail->groups_count > 0)
    for (int g = 0; g < raw.detail->groups_count; ++g) one.jump |= raw.detail->groups[g] == CS_GRP_JUMP;
  for (int i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& op = x86.operands[i];
    if (op.type == X86_OP_IMM && (one.jump || one.name == "call")) one.target = static_cast<std::uint64_t>(op.imm);
    std::string value;
    if (op.type == X86_OP_REG && vector_register(op.reg) >= 0) {
      one.bytes = std::max(one.bytes, register_bytes(op.reg));
      value = fmt::format("v{}", vector_register(op.reg));
    } else if (op.type == X86_OP_REG && vector && (name == "movd" || name == "movq")) {
      value = "g" + general_register(engine, op.reg);
    } else if (op.type == X86_OP_MEM) {
      one.memory = true;
      one.stack |= is_stack(op.mem);
      if (vector && is_stack(op.mem) && op.mem.index == X86_REG_INVALID) value = fmt::format("s{}", op.mem.disp);
    }
    if (value.empty()) continue;
    const bool first = i == 0 && !starts(name, "comis") && !starts(name, "ucomis");
    if (first) one.written.push_back(value);
    if (!first || accumulates(name, vex, x86.op_count)) one.read.push_back(value);
  }
  // xor r, r makes a zero: it reads nothing.
  if ((starts(name, "xorp") || starts(name, "pxor")) && one.read.size() >= 2 &&
      one.read[one.read.size() - 1] == one.read[one.read.size() - 2])
    one.read.clear();
  one.packed = vector && is_packed(name) && !is_scalar(name);
  return one;
}

/// Disassembles with gaps skipped, so that data between functions does no harm.
std::vector<Instruction> disassemble(csh engine, const CodeSection& section, const ElfCode& code) {
  std::vector<Instruction> found;
  cs_insn* raw = cs_malloc(engine);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(section.bytes.data());
  std::size_t size = section.bytes.size();
  std::uint64_t address = section.address;
  while (size > 0) {
    if (*bytes == kEvex) {
      std::size_t length = 0;
      const std::string_view rest(reinterpret_cast<const char*>(bytes), size);
      if (auto one = decode_evex(rest, address, length)) {
        found.push_back(*std::move(one));
        bytes += length;
        size -= length;
        address += length;
        continue;
      }
    }
    if (!cs_disasm_iter(engine, &bytes, &size, &address, raw)) {
      ++bytes;
      --size;
      ++address;
      continue;
    }
    Instruction one = translate(engine, *raw);
    const cs_x86& x86 = raw->detail->x86;
    if ((one.name == "call" || one.name == "jmp" || one.name == "bnd jmp") && x86.op_count == 1 &&
        x86.operands[0].type == X86_OP_MEM && x86.operands[0].mem.base == X86_REG_RIP)
      if (const auto slot =
              code.slots.find(raw->address + raw->size + static_cast<std::uint64_t>(x86.operands[0].mem.disp));
          slot != code.slots.end())
        one.callee = slot->second;
    if (one.name == "sub" && x86.op_count == 2 && x86.operands[0].type == X86_OP_REG &&
        x86.operands[0].reg == X86_REG_RSP && x86.operands[1].type == X86_OP_IMM)
      one.name = "frame", one.target = static_cast<std::uint64_t>(x86.operands[1].imm);
    found.push_back(std::move(one));
  }
  cs_free(raw, 1);
  return found;
}

/// Linkage stubs: address of the stub to the function it jumps to.
std::map<std::uint64_t, std::string> read_stubs(csh engine, const ElfCode& code) {
  std::map<std::uint64_t, std::string> stubs;
  for (const CodeSection& section : code.sections) {
    if (!starts(section.name, ".plt")) continue;
    std::uint64_t begin = section.address;
    for (const Instruction& one : disassemble(engine, section, code)) {
      if (one.address >= begin + 16) begin = one.address;
      if (!one.callee.empty())
        stubs[one.address & ~std::uint64_t{15}] = stubs[one.address & ~std::uint64_t{7}] = one.callee;
    }
  }
  return stubs;
}

LoopFacts sum_up(const std::vector<Instruction>& code, std::size_t begin, std::size_t end) {
  LoopFacts loop;
  std::set<std::string> defined, exposed;
  bool convert = false, shift = false;
  for (std::size_t i = begin; i < end; ++i) {
    const Instruction& one = code[i];
    const std::string& name = one.name;
    if (is_fma(name)) ++loop.fma;
    if (starts(name, "addp") || starts(name, "adds")) ++loop.add;
    if (starts(name, "maxp") || starts(name, "maxs") || starts(name, "blendv") || starts(name, "cmp") ||
        starts(name, "comis"))
      ++loop.maximum;
    if (starts(name, "divp") || starts(name, "divs")) ++loop.divide;
    if (contains(one.callee, "exp")) ++loop.exponential;
    convert |= starts(name, "cvtps2dq") || starts(name, "cvttps2dq") || starts(name, "round") ||
               starts(name, "rndscale") || starts(name, "cvtss2si");
    shift |= starts(name, "pslld") || starts(name, "psllq") || starts(name, "scalef");
    if (one.memory && !one.stack && one.bytes > 0) ++loop.loads;
    for (const auto& used : one.read)
      if (!defined.contains(used)) exposed.insert(used);
    for (const auto& made : one.written) defined.insert(made);
  }
  if (convert && shift) ++loop.exponential;  // powers of two put together from their exponent
  for (const auto& value : exposed)
    if (defined.contains(value)) ++loop.carried;
  return loop;
}

struct Counter {
  Evidence& evidence;
  int packed_loops = 0;

  void take(const Instruction& one, bool in_loop) {
    auto& seen = evidence.seen;
    const std::string& name = one.name;
    if (one.packed && one.memory && !one.stack && in_loop && one.bytes >= 16 && !contains(name, "gather") &&
        !contains(name, "broadcast")) {
      seen["vector_bytes"] = std::max<std::int64_t>(seen["vector_bytes"], one.bytes);
      ++seen["vector_accesses"];
    }
    if (is_fma(name)) ++seen["fma"];
    if (starts(name, "prefetch")) ++seen["prefetches"];
    if (starts(name, "movnt")) ++seen["streaming_stores"];
    if (starts(name, "tdp") || contains(name, "dpbf16") || starts(name, "pdpbusd")) ++seen["matrix_instructions"];
    if (starts(name, "extractf") || starts(name, "extracti") || starts(name, "perm") || starts(name, "hadd") ||
        starts(name, "shufp") || starts(name, "shuff") || starts(name, "unpck") || starts(name, "movhl") ||
        starts(name, "movshdup"))
      ++seen["lane_exchanges"];
    if (one.locked || starts(name, "cmpxchg")) ++seen["atomics"];
    if (name == "frame")
      seen["frame_bytes"] = std::max<std::int64_t>(seen["frame_bytes"], static_cast<std::int64_t>(one.target));
    if (one.callee == "GOMP_parallel" || contains(one.callee, "kmpc_fork_call") || starts(one.callee, "GOMP_parallel_"))
      ++seen["parallel_regions"];
    if (starts(one.callee, "GOMP_barrier") || starts(one.callee, "GOMP_critical") ||
        starts(one.callee, "GOMP_atomic") || starts(one.callee, "GOMP_single") ||
        contains(one.callee, "kmpc_barrier") || contains(one.callee, "kmpc_critical") ||
        contains(one.callee, "kmpc_reduce"))
      ++seen["barriers"];
  }
};

void conclude(Evidence& evidence) {
  auto& seen = evidence.seen;
  const bool packed = seen["vector_accesses"] > 0, tile = packed && seen["frame_bytes"] >= kTileBytes;
  const bool accumulators = seen["accumulators"] >= kTileAccumulators;
  if (packed) evidence.add(kMemory, 1, fmt::format("loads and stores of {} bytes", seen["vector_bytes"]));
  if (tile) evidence.add(kMemory, 2, fmt::format("tiles in a stack frame of {} bytes", seen["frame_bytes"]));
  if (tile && accumulators) evidence.add(kMemory, 3, "tiles on the stack and in registers");
  if (packed && seen["prefetches"] > 0) evidence.add(kMemory, 3, "prefetches");
  if (packed && seen["streaming_stores"] > 0) evidence.add(kMemory, 3, "streaming stores");
  if (seen["fma"] > 0 && seen["parallel_regions"] <= 1) evidence.add(kCompute, 1, "one pass with fused multiply-adds");
  if (seen["matrix_instructions"] > 0) evidence.add(kCompute, 3, "matrix instructions");
  if (seen["parallel_regions"] > 0) evidence.add(kParallelism, 1, "a team of threads");
  if (seen["parallel_regions"] > 0 && seen["lane_exchanges"] > 0)
    evidence.add(kParallelism, 2, "threads, and lanes that exchange values");
  if (seen["barriers"] > 0) evidence.add(kParallelism, 3, "threads meet at barriers or critical sections");
  if (seen["atomics"] > 0) evidence.add(kParallelism, 3, "atomic updates");
  if (seen["parallel_regions"] > 1)
    evidence.add(kParallelism, 3, fmt::format("{} parallel regions, one after another", seen["parallel_regions"]));
}

}  // namespace

bool scan_object_code(std::string_view bytes, Evidence& evidence) {
  const auto code = read_elf_code(bytes);
  csh engine = 0;
  if (!code || cs_open(CS_ARCH_X86, CS_MODE_64, &engine) != CS_ERR_OK) return false;
  cs_option(engine, CS_OPT_DETAIL, CS_OPT_ON);
  const auto stubs = read_stubs(engine, *code);
  std::vector<LoopFacts> loops;
  Counter counter{evidence};
  for (const CodeSection& section : code->sections) {
    if (starts(section.name, ".plt") || section.name == ".init" || section.name == ".fini") continue;
    std::vector<Instruction> instructions = disassemble(engine, section, *code);
    std::map<std::uint64_t, std::size_t> at;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      at[instructions[i].address] = i;
      if (instructions[i].name == "call" && instructions[i].callee.empty())
        if (const auto stub = stubs.find(instructions[i].target); stub != stubs.end())
          instructions[i].callee = stub->second;
    }
    std::vector<std::pair<std::size_t, std::size_t>> ranges;
    for (std::size_t i = 0; i < instructions.size(); ++i)
      if (instructions[i].jump && instructions[i].target != 0 && instructions[i].target <= instructions[i].address)
        if (const auto begin = at.find(instructions[i].target); begin != at.end())
          ranges.emplace_back(begin->second, i + 1);
    std::vector<bool> in_loop(instructions.size(), false);
    for (const auto& range : ranges) {
      std::fill(in_loop.begin() + static_cast<std::ptrdiff_t>(range.first),
                in_loop.begin() + static_cast<std::ptrdiff_t>(range.second), true);
      const bool inner = std::none_of(ranges.begin(), ranges.end(), [&](const auto& other) {
        return other != range && other.first >= range.first && other.second <= range.second;
      });
      if (inner) loops.push_back(sum_up(instructions, range.first, range.second));
    }
    for (std::size_t i = 0; i < instructions.size(); ++i) counter.take(instructions[i], in_loop[i]);
  }
  cs_close(&engine);
  judge_loops(loops, kTileAccumulators, evidence);
  conclude(evidence);
  return true;
}

}  // namespace kerf
