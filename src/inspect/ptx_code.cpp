// PTX text: which instructions a kernel uses, and what its innermost loops carry from turn to turn.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "inspect/evidence.hpp"

namespace kerf {
namespace {

constexpr int kTileAccumulators = 16;

struct Instruction {
  std::string opcode;                      // "ld.global.nc.v4.f32"
  std::vector<std::string> written, read;  // registers
  std::string target;                      // of a branch
};

struct Body {
  std::string name;
  std::vector<Instruction> code;
  std::map<std::string, std::size_t> labels;
};

bool has(std::string_view opcode, std::string_view part) {
  for (const std::string& piece : split(opcode, '.'))
    if (piece == part) return true;
  return false;
}
bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

/// Registers ("%f12") of an operand list.
std::vector<std::string> registers(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    std::size_t end = at + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
    found.emplace_back(text.substr(at, end - at));
  }
  return found;
}

Instruction parse(std::string_view line) {
  Instruction instruction;
  if (starts(line, "@")) {  // predicate
    const auto space = line.find(' ');
    for (const auto& used : registers(line.substr(0, space))) instruction.read.push_back(used);
    line = space == std::string_view::npos ? std::string_view{} : trim(line.substr(space));
  }
  const auto end = line.find_first_of(" \t;");
  instruction.opcode = std::string(line.substr(0, end));
  std::string_view operands = end == std::string_view::npos ? std::string_view{} : trim(line.substr(end));
  if (starts(instruction.opcode, "bra")) {
    instruction.target = std::string(trim(operands.substr(0, operands.find(';'))));
    return instruction;
  }
  // The first operand is written, unless the instruction only stores or compares memory.
  const bool stores = starts(instruction.opcode, "st.") || starts(instruction.opcode, "red") ||
                      starts(instruction.opcode, "bar") || starts(instruction.opcode, "cp.");
  std::size_t split_at = 0;
  if (!stores) {
    int depth = 0;
    while (split_at < operands.size() && !(depth == 0 && operands[split_at] == ',')) {
      if (operands[split_at] == '{') ++depth;
      if (operands[split_at] == '}') --depth;
      ++split_at;
    }
    instruction.written = registers(operands.substr(0, split_at));
    for (const auto& one : instruction.written)  // "ld" through an address in the first operand does not exist
      (void)one;
  }
  for (auto& used : registers(operands.substr(std::min(split_at, operands.size()))))
    instruction.read.push_back(std::move(used));
  return instruction;
}

/// Bodies of the named entry points and of all device functions.
std::vector<Body> parse_bodies(std::string_view ptx, const std::set<std::string>& entries) {
  std::vector<Body> bodies;
  Body body;
  bool wanted = false, inside = false;
  for (const std::string& raw : split(ptx, '\n')) {
    std::string_view line = trim(raw);
    if (const auto comment = line.find("//"); comment != std::string_view::npos) line = trim(line.substr(0, comment));
    if (line.empty()) continue;
    const auto entry = line.find(".entry "), function = line.find(".func ");
    if (!inside && (entry != std::string_view::npos || function != std::string_view::npos)) {
      body = {};
      if (entry != std::string_view::npos) {
        const std::string_view rest = trim(line.substr(entry + 7));
        body.name = std::string(rest.substr(0, rest.find_first_of("( \t")));
      }
      wanted = function != std::string_view::npos || entries.empty() || entries.contains(body.name);
      continue;
    }
    if (line == "{" && !inside) {
      inside = true;
    } else if (line == "}" && inside) {
      if (wanted) bodies.push_back(std::move(body));
      body = {};
      inside = wanted = false;
    } else if (inside && wanted) {
      if (line.back() == ':') {
        body.labels[std::string(line.substr(0, line.size() - 1))] = body.code.size();
      } else if (line[0] != '.' && line[0] != '{' && line[0] != '}') {
        body.code.push_back(parse(line));
      }
    }
  }
  return bodies;
}

bool is_float(const std::string& name) { return starts(name, "%f") || starts(name, "%h") || starts(name, "%fd"); }

LoopFacts sum_up(const Body& body, std::size_t begin, std::size_t end) {
  LoopFacts loop;
  std::set<std::string> defined, exposed;
  for (std::size_t i = begin; i < end; ++i) {
    const Instruction& one = body.code[i];
    const std::string& op = one.opcode;
    const bool floating =
        has(op, "f32") || has(op, "f64") || has(op, "f16") || has(op, "f16x2") || has(op, "bf16") || has(op, "bf16x2");
    if (starts(op, "fma") && floating) ++loop.fma;
    if (starts(op, "add") && floating) ++loop.add;
    if ((starts(op, "max") || starts(op, "min") || starts(op, "selp")) && floating) ++loop.maximum;
    if (starts(op, "div") && floating) ++loop.divide;
    if (starts(op, "rcp")) ++loop.divide;
    if (starts(op, "ex2")) ++loop.exponential;
    if (starts(op, "ld.")) ++loop.loads;
    for (const auto& used : one.read)
      if (is_float(used) && !defined.contains(used)) exposed.insert(used);
    for (const auto& made : one.written) defined.insert(made);
  }
  for (const auto& name : exposed)
    if (defined.contains(name)) ++loop.carried;
  return loop;
}

std::vector<LoopFacts> innermost_loops(const Body& body) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t i = 0; i < body.code.size(); ++i)
    if (const auto label = body.labels.find(body.code[i].target); label != body.labels.end() && label->second <= i)
      ranges.emplace_back(label->second, i + 1);
  std::vector<LoopFacts> loops;
  for (const auto& range : ranges) {
    const bool inner = std::none_of(ranges.begin(), ranges.end(), [&](const auto& other) {
      return other != range && other.first >= range.first && other.second <= range.second;
    });
    if (inner) loops.push_back(sum_up(body, range.first, range.second));
  }
  return loops;
}

}  // namespace

Evidence scan_ptx(std::string_view ptx, const Artifact& artifact, const Candidate& candidate,
                  const Bindings& constants) {
  Evidence evidence;
  std::set<std::string> entries;
  for (const Launch& launch : candidate.plan.launches) entries.insert(launch.kernel);
  std::vector<LoopFacts> loops;
  auto& seen = evidence.seen;
  for (const Body& body : parse_bodies(ptx, entries)) {
    for (const Instruction& one : body.code) {
      const std::string& op = one.opcode;
      const bool global = has(op, "global");
      if ((starts(op, "ld.") || starts(op, "st.")) && global) {
        const int lanes = has(op, "v2") ? 2 : has(op, "v4") ? 4 : has(op, "v8") ? 8 : has(op, "b128") ? 4 : 1;
        seen["vector_lanes"] = std::max<std::int64_t>(seen["vector_lanes"], lanes);
        ++seen["global_accesses"];
      }
      if ((starts(op, "ld.") || starts(op, "st.") || starts(op, "ldmatrix")) &&
          (has(op, "shared") || has(op, "shared::cta")))
        ++seen["shared_accesses"];
      if (starts(op, "cp.async") || starts(op, "prefetch") || starts(op, "mbarrier")) ++seen["async_copies"];
      if (starts(op, "fma.")) ++seen["fma"];
      if (starts(op, "mma") || starts(op, "wmma.mma") || starts(op, "wgmma.mma") || starts(op, "tcgen05.mma"))
        ++seen["matrix_instructions"];
      if (starts(op, "bar.") || starts(op, "barrier.sync") || starts(op, "barrier.cta")) ++seen["barriers"];
      if (starts(op, "shfl") || starts(op, "redux") || starts(op, "vote") || starts(op, "match")) ++seen["shuffles"];
      if ((starts(op, "atom") || starts(op, "red.")) && !has(op, "shared")) ++seen["global_atomics"];
      if (starts(op, "barrier.cluster") || has(op, "shared::cluster")) ++seen["cluster_operations"];
    }
    for (const LoopFacts& loop : innermost_loops(body)) loops.push_back(loop);
  }
  for (const KernelFacts& kernel : artifact.facts.kernels)
    if (entries.contains(kernel.name)) {
      seen["registers"] = std::max<std::int64_t>(seen["registers"], kernel.registers);
      seen["shared_bytes"] = std::max<std::int64_t>(seen["shared_bytes"], kernel.shared_bytes);
      seen["spill_bytes"] = std::max<std::int64_t>(seen["spill_bytes"], kernel.local_bytes);
    }
  for (const Launch& launch : candidate.plan.launches)
    if (const auto bytes = launch.shared_bytes.evaluate(constants))
      seen["dynamic_shared_bytes"] = std::max(seen["dynamic_shared_bytes"], *bytes);
  seen["launches"] = static_cast<std::int64_t>(candidate.plan.launches.size());
  judge_loops(loops, kTileAccumulators, evidence);

  if (seen["vector_lanes"] > 1)
    evidence.add(kMemory, 1, fmt::format("global accesses of {} elements", seen["vector_lanes"]));
  if (seen["shared_accesses"] > 0) {
    evidence.add(kMemory, 2, "tiles in shared memory");
    if (seen["accumulators"] >= kTileAccumulators) evidence.add(kMemory, 3, "tiles in shared memory and in registers");
  }
  if (seen["async_copies"] > 0) evidence.add(kMemory, 3, "asynchronous copies or prefetches");
  if (seen["matrix_instructions"] > 0 && seen["shared_accesses"] > 0)
    evidence.add(kMemory, 3, "tiles in shared memory and in matrix fragments");
  if (seen["fma"] > 0 && seen["launches"] <= 1) evidence.add(kCompute, 1, "one pass with fused multiply-adds");
  if (seen["matrix_instructions"] > 0) evidence.add(kCompute, 3, "matrix instructions");
  if (seen["barriers"] > 0) evidence.add(kParallelism, 1, "threads of a block meet at barriers");
  if (seen["shuffles"] > 0) evidence.add(kParallelism, 2, "threads of a warp exchange values");
  if (seen["global_atomics"] > 0) evidence.add(kParallelism, 3, "atomics in global memory");
  if (seen["cluster_operations"] > 0) evidence.add(kParallelism, 3, "clusters of blocks");
  if (launches_cooperate(candidate.plan)) evidence.add(kParallelism, 3, "launches that hand over partial results");
  return evidence;
}

}  // namespace kerf
