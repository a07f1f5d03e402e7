// Tokens of the comment-free source, for languages whose compiled form cannot be read portably. Only what the launched
// kernels reach counts: helper functions and macros that nobody uses are left out.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "base/c_lexer.hpp"
#include "base/text.hpp"
#include "inspect/evidence.hpp"

namespace kerf {
namespace {

using Tokens = std::vector<std::string>;  // their spelling

constexpr int kTileElements = 8;

/// Conditional groups whose condition is a known integer; unknown conditions count as true.
class Conditions {
 public:
  bool active() const {
    return std::all_of(stack_.begin(), stack_.end(), [](const Group& g) { return g.on; });
  }

  /// True when the line was a conditional directive.
  bool take(const std::string& directive, const Tokens& rest, const std::map<std::string, Tokens>& macros,
            const Bindings& constants) {
    if (directive == "ifdef" || directive == "ifndef") {
      const bool defined = !rest.empty() && macros.contains(rest.front());
      open((directive == "ifdef") == defined);
    } else if (directive == "if") {
      open(evaluate(rest, macros, constants));
    } else if (directive == "elif") {
      if (!stack_.empty()) {
        stack_.back().on = !stack_.back().taken && evaluate(rest, macros, constants);
        stack_.back().taken |= stack_.back().on;
      }
    } else if (directive == "else") {
      if (!stack_.empty()) stack_.back().on = !stack_.back().taken;
    } else if (directive == "endif") {
      if (!stack_.empty()) stack_.pop_back();
    } else {
      return false;
    }
    return true;
  }

 private:
  struct Group {
    bool on, taken;
  };
  void open(bool on) { stack_.push_back({on, on}); }
  static bool evaluate(const Tokens& condition, const std::map<std::string, Tokens>& macros,
                       const Bindings& constants) {
    std::string plain;
    for (const std::string& token : condition) {
      const auto macro = macros.find(token);
      plain += macro != macros.end() && !macro->second.empty() ? join(macro->second, " ") : token;
    }
    const auto dim = parse_dim(plain);
    if (!dim) return true;
    const auto value = dim->evaluate(constants);
    return !value || *value != 0;
  }
  std::vector<Group> stack_;
};

struct Program {
  std::map<std::string, Tokens> macros;     // replacement lists, parameters ignored
  std::map<std::string, Tokens> functions;  // bodies
};

/// Function bodies by name: an identifier, its parameter list, a brace, at the outermost level.
void read_functions(const Tokens& tokens, Program& program) {
  std::string name;
  std::size_t i = 0;
  const auto skip = [&](const char* open, const char* close) {
    int depth = 0;
    const std::size_t begin = i;
    for (; i < tokens.size(); ++i) {
      if (tokens[i] == open) ++depth;
      if (tokens[i] == close && --depth == 0) break;
    }
    if (i < tokens.size()) ++i;
    return Tokens(tokens.begin() + static_cast<std::ptrdiff_t>(begin), tokens.begin() + static_cast<std::ptrdiff_t>(i));
  };
  while (i < tokens.size()) {
    if (tokens[i] == "(") {
      if (i > 0 && is_identifier(tokens[i - 1]) && tokens[i - 1] != "__attribute__") name = tokens[i - 1];
      skip("(", ")");
    } else if (tokens[i] == "{") {
      const Tokens body = skip("{", "}");
      if (!name.empty()) program.functions[name] = body;
      name.clear();
    } else {
      if (tokens[i] == ";") name.clear();
      ++i;
    }
  }
}

Tokens texts(std::span<const CToken> tokens) {
  Tokens all;
  for (const CToken& token : tokens) all.push_back(token.text);
  return all;
}

/// What follows "#define": the name, its parameters when "(" stands right behind it, the replacement.
void read_definition(std::span<const CToken> line, Program& program) {
  if (line.empty()) return;
  std::size_t body = 1;
  if (body < line.size() && line[body].is("(") && !line[body].after_blank) {
    while (body < line.size() && !line[body].is(")")) ++body;
    body = std::min(body + 1, line.size());
  }
  program.macros[line.front().text] = texts(line.subspan(body));
}

Program read_program(const std::string& source, const Bindings& constants) {
  Program program;
  Conditions conditions;
  Tokens code;
  for (const auto& tokens : logical_lines(lex_c(source))) {
    const std::span<const CToken> line(tokens);
    if (!starts_directive(line.front())) {
      if (conditions.active()) std::ranges::move(texts(line), std::back_inserter(code));
      continue;
    }
    if (line.size() < 2) continue;
    const std::string& directive = line[1].text;
    if (conditions.take(directive, texts(line.subspan(2)), program.macros, constants)) continue;
    if (directive == "define" && conditions.active()) read_definition(line.subspan(2), program);
  }
  read_functions(code, program);
  return program;
}

/// Tokens reachable from `token` through macros and functions, each once; macros are replaced by what they stand for.
void reach(const std::string& token, const Program& program, std::set<std::string>& visited, Tokens& reached) {
  const auto macro = program.macros.find(token);
  if (macro == program.macros.end()) reached.push_back(token);
  if (macro != program.macros.end())
    for (const auto& next : macro->second)
      if (next != token) {
        if (visited.size() < 10000 && program.macros.contains(next)) {
          if (visited.insert("#" + token + next).second) reach(next, program, visited, reached);
        } else {
          reached.push_back(next);
        }
      }
  const auto function = program.functions.find(token);
  if (function != program.functions.end() && visited.insert(token).second)
    for (const auto& next : function->second) reach(next, program, visited, reached);
}

bool is_vector_type(const std::string& token) {
  for (const char* base : {"float", "double", "half", "int", "uint", "ushort", "short"})
    for (const char* width : {"2", "4", "8", "16"})
      if (token == std::string(base) + width) return true;
  return false;
}

bool starts_any(const std::string& token, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) { return token.starts_with(prefix); });
}

/// Elements of private arrays: `type name[E]...[E];` or `= {` outside of local memory, extents known.
std::int64_t private_tile(const Tokens& tokens, const Bindings& constants) {
  std::int64_t most = 0;
  for (std::size_t i = 2; i + 2 < tokens.size(); ++i) {
    if (tokens[i] != "[" || !is_identifier(tokens[i - 1]) || !starts_any(tokens[i - 2], {"float", "double", "half"}))
      continue;
    bool local = false;
    for (std::size_t back = i; back-- > 0 && back + 6 > i && tokens[back] != ";" && tokens[back] != "{";)
      local |= tokens[back] == "__local" || tokens[back] == "local";
    std::int64_t elements = 1;
    std::size_t at = i;
    while (at < tokens.size() && tokens[at] == "[") {
      std::string extent;
      for (++at; at < tokens.size() && tokens[at] != "]"; ++at) extent += tokens[at] + " ";
      ++at;
      const auto dim = parse_dim(extent);
      const auto value = dim ? dim->evaluate(constants) : Result<std::int64_t>(1);
      elements *= value ? *value : 1;
    }
    if (!local) most = std::max(most, elements);
  }
  return most;
}

/// Facts of the innermost `for` and `while` bodies.
std::vector<LoopFacts> loop_bodies(const Tokens& tokens) {
  std::vector<LoopFacts> loops;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != "for" && tokens[i] != "while") continue;
    std::size_t at = i + 1;
    int depth = 0;
    for (; at < tokens.size(); ++at) {
      if (tokens[at] == "(") ++depth;
      if (tokens[at] == ")" && --depth == 0) break;
    }
    LoopFacts loop;
    std::set<std::string> assigned;
    bool inner = true;
    depth = 0;
    for (++at; at < tokens.size(); ++at) {
      const std::string& token = tokens[at];
      if (token == "{") ++depth;
      if (token == "}" && --depth <= 0) break;
      if (depth == 0 && token == ";") break;
      if (token == "for" || token == "while") inner = false;
      if (starts_any(token, {"exp", "native_exp", "half_exp", "kerf_fast_exp"})) ++loop.exponential;
      if (token == "fmax" || token == "max" || token == "?") ++loop.maximum;
      if (token == "/") ++loop.divide;
      if (token == "fma" || token == "mad") ++loop.fma;
      const bool assigns = at + 1 < tokens.size() && tokens[at + 1] == "=" && at > 0;
      const bool compound = at + 2 < tokens.size() && tokens[at + 2] == "=" &&
                            std::string("+-*/").find(tokens[at + 1]) != std::string::npos;
      // An assignment without a type before it goes to a variable from outside of the loop.
      if (is_identifier(token) && (compound || (assigns && !is_identifier(tokens[at - 1]) &&
                                                tokens[at + 2 < tokens.size() ? at + 2 : at] != "=")))
        assigned.insert(token);
      if (compound && tokens[at + 1] == "+") ++loop.add;
    }
    loop.carried = static_cast<int>(assigned.size());
    if (inner) loops.push_back(loop);
  }
  return loops;
}

}  // namespace

Evidence scan_tokens(const Candidate& candidate, const Bindings& constants) {
  Evidence evidence;
  const Program program = read_program(candidate.source, constants);
  std::set<std::string> visited;
  Tokens tokens;
  if (candidate.plan.launches.empty()) reach("kerf_kernel", program, visited, tokens);
  for (const Launch& launch : candidate.plan.launches) reach(launch.kernel, program, visited, tokens);
  auto& seen = evidence.seen;
  bool product_sum = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    if (is_vector_type(token) || starts_any(token, {"vload", "vstore"})) ++seen["vector_words"];
    if (token == "__local" || token == "local") ++seen["local_words"];
    if (starts_any(token, {"async_work_group", "wait_group_events"}) || token == "prefetch") ++seen["async_copies"];
    if (token == "fma" || token == "mad" || token == "fmaf") ++seen["fma"];
    if (token == "barrier" || token == "work_group_barrier") ++seen["barriers"];
    if (starts_any(token,
                   {"sub_group_", "intel_sub_group_", "work_group_reduce", "work_group_scan", "work_group_broadcast"}))
      ++seen["collectives"];
    if (starts_any(token, {"atomic_", "atom_"})) ++seen["atomics"];
    if (token == "+" && i + 1 < tokens.size() && tokens[i + 1] == "=")
      for (std::size_t j = i; j < tokens.size() && tokens[j] != ";"; ++j) product_sum |= tokens[j] == "*";
  }
  for (const Launch& launch : candidate.plan.launches)
    if (const auto bytes = launch.shared_bytes.evaluate(constants); bytes && *bytes > 0) ++seen["local_words"];
  seen["launches"] = static_cast<std::int64_t>(candidate.plan.launches.size());
  seen["private_tile"] = private_tile(tokens, constants);
  judge_loops(loop_bodies(tokens), 1 << 20, evidence);

  if (seen["vector_words"] > 0) evidence.add(kMemory, 1, "vector types or vector loads");
  if (seen["local_words"] > 0) {
    evidence.add(kMemory, 2, "tiles in local memory");
    if (seen["private_tile"] >= kTileElements) evidence.add(kMemory, 3, "tiles in local memory and in registers");
  }
  if (seen["async_copies"] > 0) evidence.add(kMemory, 3, "asynchronous copies or prefetches");
  if ((seen["fma"] > 0 || product_sum) && seen["launches"] <= 1)
    evidence.add(kCompute, 1, "one pass with fused multiply-adds");
  if (seen["private_tile"] >= kTileElements && (seen["fma"] > 0 || product_sum))
    evidence.add(kCompute, 3, fmt::format("a register tile of {} accumulators", seen["private_tile"]));
  if (seen["barriers"] > 0) evidence.add(kParallelism, 1, "work items of a group meet at barriers");
  if (seen["collectives"] > 0) evidence.add(kParallelism, 2, "work items of a sub-group exchange values");
  if (seen["atomics"] > 0) evidence.add(kParallelism, 3, "atomics");
  if (launches_cooperate(candidate.plan)) evidence.add(kParallelism, 3, "launches that hand over partial results");
  return evidence;
}

}  // namespace kerf
