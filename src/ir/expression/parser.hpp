#pragma once
// Tokens to a syntax tree. Nothing is looked up here: names, functions and shapes are the evaluator's business.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/expression/lexer.hpp"

namespace kerf::ir {

using ExprId = int;  ///< index into Program::nodes; children have smaller ids

enum class ExprKind { integer, real, text, name, list, unary, binary, call, index, attribute, slice, ellipsis, absent };

/// One node. `text` is the operator, the name, the string, the function or the attribute.
struct Expr {
  ExprKind kind = ExprKind::absent;
  std::size_t at = 0;  ///< where errors about it point
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  std::vector<ExprId> children;       ///< slice: start, stop, step (`absent` where omitted); index: base, items...
  std::vector<std::string> keywords;  ///< of a call: one per child, empty for a positional argument
};

struct Statement {
  std::string name;
  std::size_t at = 0;
  ExprId value = 0;
};

/// Only operators, indexing and attributes can form left-leaning chains of any length; every other nesting is at most
/// kMaxNesting deep.
struct Program {
  std::vector<Expr> nodes;
  std::vector<Statement> statements;

  const Expr& operator[](ExprId id) const { return nodes[static_cast<std::size_t>(id)]; }
};

constexpr int kMaxNesting = 200;

Result<Program> parse_program(const Source& source);

}  // namespace kerf::ir
