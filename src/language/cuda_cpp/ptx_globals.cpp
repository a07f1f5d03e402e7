#include "language/cuda_cpp/ptx_globals.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <vector>

#include "base/text.hpp"

namespace kerf {
namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

std::string without_comments(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") {
      while (i < text.size() && text[i] != '\n') ++i;
      result += '\n';
    } else if (text.substr(i, 2) == "/*") {
      const auto end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 1;
    } else {
      result += text[i];
    }
  }
  return result;
}

/// Names and registers of a statement, in order: "mov.u64 %rd1, table" gives "mov", "u64", "%rd1", "table".
std::vector<std::string> words(std::string_view statement) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < statement.size();) {
    if (!is_name_character(statement[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < statement.size() && is_name_character(statement[i])) ++i;
    found.emplace_back(statement.substr(begin, i - begin));
  }
  return found;
}

/// Instructions that only compute a register from their operands.
bool is_pure(std::string_view opcode) {
  static constexpr std::array<std::string_view, 22> kPure{"mov", "add", "sub", "mul", "mad", "shl",  "shr",  "and",
                                                          "or",  "xor", "not", "neg", "cvt", "cvta", "selp", "sad",
                                                          "min", "max", "bfe", "bfi", "shf", "prmt"};
  return std::find(kPure.begin(), kPure.end(), opcode) != kPure.end();
}

/// Instructions after which nothing holds the address: loads through it, and comparisons.
bool ends_use(std::string_view opcode) {
  return opcode == "ld" || opcode == "ldu" || opcode == "prefetch" || opcode == "setp";
}

struct Statement {
  int function = 0;                   // registers are local to a function
  std::string opcode;                 // first word, without suffixes; "" for directives
  std::vector<std::string> operands;  // words after the opcode's suffixes
  std::size_t destinations = 0;       // how many of them the first operand has: 1, more for "{%r1, %r2}" and "%p1|%p2"
};

struct Module {
  std::vector<std::string> globals;
  std::vector<std::vector<std::string>> initialisers;  // words on the right-hand side, per global
  std::vector<Statement> statements;
};

/// The opcode and operands of one statement. A guard ("@%p1") and labels ("$L:") in front are dropped.
Statement parse_statement(std::string_view text, int function) {
  text = trim(text);
  for (auto colon = text.find(':');
       colon != std::string_view::npos && colon + 1 < text.size() && text[colon + 1] != ':'; colon = text.find(':')) {
    const auto label = trim(text.substr(0, colon));
    if (label.empty() || !std::all_of(label.begin(), label.end(), is_name_character)) break;
    text = trim(text.substr(colon + 1));
  }
  if (text.starts_with('@')) {
    const auto space = text.find_first_of(" \t\n");
    text = space == std::string_view::npos ? std::string_view() : trim(text.substr(space));
  }
  Statement statement{function, "", {}, 0};
  const auto end = std::min(text.find_first_of(" \t\n"), text.size());
  const auto head = text.substr(0, end);
  statement.opcode = std::string(head.substr(0, head.find('.')));
  const auto operands = text.substr(end);
  const auto open = operands.find('{');
  auto comma = operands.find(',');
  if (open < comma) comma = operands.find('}');
  statement.operands = words(operands);
  statement.destinations = words(operands.substr(0, comma)).size();
  return statement;
}

void parse_global(std::string_view declaration, Module& module) {
  const auto equals = declaration.find('=');
  const auto left = declaration.substr(0, equals);
  const auto bracket = left.find('[');
  const auto names = words(left.substr(0, bracket));
  if (names.empty()) return;
  module.globals.push_back(names.back());
  module.initialisers.push_back(equals == std::string_view::npos ? std::vector<std::string>{}
                                                                 : words(declaration.substr(equals + 1)));
}

/// Whether a brace after `pending` (the statement so far) opens a block rather than a vector operand.
bool opens_scope(std::string_view pending) {
  pending = trim(pending);
  return pending.empty() || pending.ends_with(':');
}

/// Where a declaration's state space is named; npos for other directives. ".global" must not be found in ".globl".
std::size_t variable_at(std::string_view declaration) {
  return std::min(declaration.find(".global "), declaration.find(".const "));
}

Module parse(std::string_view ptx) {
  Module module;
  const std::string text = without_comments(ptx);
  int depth = 0, function = 0;
  std::size_t begin = 0;
  bool in_initialiser = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' && depth > 0 && !opens_scope(std::string_view(text).substr(begin, i - begin))) {
      i = std::min(text.find('}', i), text.size() - 1);  // a vector operand
      continue;
    }
    if (c == '=' && depth == 0) in_initialiser = true;
    if (in_initialiser && c != ';') continue;  // braces of "= {1, 2}" are no scope
    if (c == '{') {
      if (depth++ == 0) ++function;
      begin = i + 1;
    } else if (c == '}') {
      --depth;
      begin = i + 1;
    } else if (c == ';') {
      const auto piece = std::string_view(text).substr(begin, i - begin);
      begin = i + 1;
      in_initialiser = false;
      if (depth > 0) {
        module.statements.push_back(parse_statement(piece, function));
      } else if (const auto at = variable_at(piece); at != std::string_view::npos) {
        parse_global(piece.substr(at), module);
      }
    }
  }
  return module;
}

/// True when every use of `name` ends in a load.
bool only_loaded(const Module& module, const std::string& name) {
  for (const auto& initialiser : module.initialisers) {
    if (std::find(initialiser.begin(), initialiser.end(), name) != initialiser.end()) return false;
  }
  std::set<std::pair<int, std::string>> tainted;  // registers that may hold an address inside the variable
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& statement : module.statements) {
      const auto holds_address = [&](const std::string& word) {
        return word == name || tainted.contains({statement.function, word});
      };
      const auto& operands = statement.operands;
      const auto first = std::find_if(operands.begin(), operands.end(), holds_address);
      if (first == operands.end() || ends_use(statement.opcode)) continue;
      if (!is_pure(statement.opcode)) return false;
      for (std::size_t i = 0; i < statement.destinations; ++i) {
        grew |= tainted.insert({statement.function, operands[i]}).second;
      }
    }
  }
  return true;
}

}  // namespace

std::set<std::string> read_only_globals(std::string_view ptx) {
  const Module module = parse(ptx);
  std::set<std::string> proven;
  for (const auto& name : module.globals) {
    if (only_loaded(module, name)) proven.insert(name);
  }
  return proven;
}

}  // namespace kerf
