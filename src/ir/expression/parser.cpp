#include "ir/expression/parser.hpp"

#include <array>
#include <optional>

#include "ir/expression/hints.hpp"

namespace kerf::ir {
namespace {

struct Operator {
  std::string_view symbol;
  int precedence;  // larger binds tighter; all are left-associative
};
constexpr int kOr = 1, kAnd = 2, kNot = 3, kComparison = 4, kUnary = 10;
constexpr std::array<Operator, 18> kPrecedences{{{"or", kOr},
                                                 {"and", kAnd},
                                                 {"<", kComparison},
                                                 {"<=", kComparison},
                                                 {">", kComparison},
                                                 {">=", kComparison},
                                                 {"==", kComparison},
                                                 {"!=", kComparison},
                                                 {"|", 5},
                                                 {"^", 6},
                                                 {"&", 7},
                                                 {"+", 8},
                                                 {"-", 8},
                                                 {"*", 9},
                                                 {"/", 9},
                                                 {"//", 9},
                                                 {"%", 9},
                                                 {"@", 9}}};

std::optional<Operator> binary_operator(const Token& token) {
  if (token.kind != TokenKind::symbol && token.kind != TokenKind::name) return std::nullopt;
  for (const auto& candidate : kPrecedences)
    if (candidate.symbol == token.text) return candidate;
  return std::nullopt;
}

/// Recursive descent; binary operators by precedence climbing.
class Parser {
 public:
  Parser(const Source& source, std::vector<Token> tokens) : source_(source), tokens_(std::move(tokens)) {}

  Result<Program> run() {
    while (true) {
      while (now().kind == TokenKind::newline) ++next_;
      if (now().kind == TokenKind::end) break;
      KERF_TRY_VOID(statement());
    }
    if (program_.statements.empty()) return source_.error(0, "the expression is empty; write 'name = expression'");
    return std::move(program_);
  }

 private:
  const Token& now() const { return tokens_[next_]; }
  bool accept(std::string_view symbol) {
    if (!now().is(symbol)) return false;
    ++next_;
    return true;
  }
  std::string shown(const Token& token) const {
    if (token.kind == TokenKind::end) return "the end";
    if (token.kind == TokenKind::newline) return "the end of the statement";
    return "'" + std::string(token.text) + "'";
  }
  Status expect(std::string_view symbol) {
    if (accept(symbol)) return {};
    return source_.error(now().at, "expected '" + std::string(symbol) + "' before " + shown(now()));
  }
  ExprId add(Expr expr) {
    program_.nodes.push_back(std::move(expr));
    return static_cast<ExprId>(program_.nodes.size()) - 1;
  }
  Status enter() {
    if (++depth_ <= kMaxNesting) return {};
    return source_.error(now().at, "nested more than " + std::to_string(kMaxNesting) + " deep");
  }

  Status statement() {
    const Token name = now();
    if (name.kind != TokenKind::name)
      return source_.error(name.at, "expected a statement 'name = expression', found " + shown(name));
    ++next_;
    if (now().is(","))
      return source_.error(now().at, "a statement assigns one name; write 'parts = ...', then '" +
                                         std::string(name.text) + " = parts[0]' and so on");
    if (!now().is("="))
      return source_.error(now().at,
                           "expected '=' after '" + std::string(name.text) + "': statements are 'name = expression'");
    ++next_;
    KERF_TRY(const ExprId value, expression(0));
    if (now().kind != TokenKind::newline)
      return source_.error(now().at, "unexpected " + shown(now()) + " after the expression");
    program_.statements.push_back({std::string(name.text), name.at, value});
    return {};
  }

  Result<ExprId> expression(int least) {
    KERF_TRY_VOID(enter());
    KERF_TRY(ExprId left, prefix());
    while (const auto op = binary_operator(now())) {
      if (op->precedence < least) break;
      const std::size_t at = now().at;
      ++next_;
      KERF_TRY(const ExprId right, expression(op->precedence + 1));
      if (op->precedence == kComparison)
        if (const auto next = binary_operator(now()); next && next->precedence == kComparison)
          return source_.error(now().at, "comparisons cannot be chained; join them with 'and'");
      left = add({ExprKind::binary, at, std::string(op->symbol), 0, 0, {left, right}, {}});
    }
    --depth_;
    return left;
  }

  Result<ExprId> prefix() {
    const Token token = now();
    const bool is_not = token.is_word("not");
    if (is_not || token.is("-") || token.is("+") || token.is("~")) {
      ++next_;
      KERF_TRY(const ExprId operand, expression(is_not ? kNot : kUnary));
      return add({ExprKind::unary, token.at, std::string(token.text), 0, 0, {operand}, {}});
    }
    KERF_TRY(const ExprId base, postfix());
    if (!now().is("**")) return base;
    const std::size_t at = now().at;
    ++next_;
    KERF_TRY(const ExprId exponent, expression(kUnary));  // right-associative, and -x**2 is -(x**2)
    return add({ExprKind::binary, at, "**", 0, 0, {base, exponent}, {}});
  }

  Result<ExprId> postfix() {
    KERF_TRY(ExprId value, primary());
    while (true) {
      const std::size_t at = now().at;
      if (accept("[")) {
        KERF_TRY(value, index(value, at));
      } else if (accept(".")) {
        if (now().kind != TokenKind::name) return source_.error(now().at, "expected an attribute name after '.'");
        value = add({ExprKind::attribute, now().at, std::string(now().text), 0, 0, {value}, {}});
        ++next_;
        if (now().is("("))
          return source_.error(
              at, "there are no methods; call the function instead: " + as_function(program_.nodes.back().text));
      } else if (now().is("(") && program_[value].kind == ExprKind::name &&
                 tokens_[next_ - 1].kind == TokenKind::name) {
        ++next_;
        KERF_TRY(value, call(value));
      } else {
        return value;
      }
    }
  }

  Result<ExprId> primary() {
    const Token token = now();
    ++next_;
    const std::string text(token.text);
    switch (token.kind) {
      case TokenKind::integer: return add({ExprKind::integer, token.at, text, token.integer, 0, {}, {}});
      case TokenKind::real: return add({ExprKind::real, token.at, text, 0, token.real, {}, {}});
      case TokenKind::text: return add({ExprKind::text, token.at, text, 0, 0, {}, {}});
      case TokenKind::name:
        if (binary_operator(token)) break;
        return add({ExprKind::name, token.at, text, 0, 0, {}, {}});
      default: break;
    }
    if (token.is("[")) return list(token.at, "]", {});
    if (token.is("(")) {
      if (now().is(")")) return list(token.at, ")", {});
      KERF_TRY(const ExprId first, expression(0));
      if (accept(",")) return list(token.at, ")", {first});
      KERF_TRY_VOID(expect(")"));
      return first;
    }
    --next_;
    return source_.error(token.at, "expected an expression, found " + shown(token));
  }

  Result<ExprId> list(std::size_t at, std::string_view close, std::vector<ExprId> items) {
    while (!now().is(close)) {
      KERF_TRY(const ExprId item, expression(0));
      items.push_back(item);
      if (!accept(",")) break;
    }
    KERF_TRY_VOID(expect(close));
    return add({ExprKind::list, at, {}, 0, 0, std::move(items), {}});
  }

  Result<ExprId> call(ExprId function) {
    Expr expr{ExprKind::call, program_[function].at, program_[function].text, 0, 0, {}, {}};
    while (!now().is(")")) {
      std::string keyword;
      if (now().kind == TokenKind::name && tokens_[next_ + 1].is("=")) {
        keyword = now().text;
        next_ += 2;
      } else if (!expr.keywords.empty() && !expr.keywords.back().empty()) {
        return source_.error(now().at, "a positional argument cannot follow a named one");
      }
      KERF_TRY(const ExprId argument, expression(0));
      expr.children.push_back(argument);
      expr.keywords.push_back(std::move(keyword));
      if (!accept(",")) break;
    }
    KERF_TRY_VOID(expect(")"));
    return add(std::move(expr));
  }

  Result<ExprId> index(ExprId base, std::size_t at) {
    Expr expr{ExprKind::index, at, {}, 0, 0, {base}, {}};
    while (!now().is("]")) {
      KERF_TRY(const ExprId item, index_item());
      expr.children.push_back(item);
      if (!accept(",")) break;
    }
    KERF_TRY_VOID(expect("]"));
    if (expr.children.size() == 1) return source_.error(at, "an index cannot be empty");
    return add(std::move(expr));
  }

  Result<ExprId> index_item() {
    const std::size_t at = now().at;
    if (accept("...")) return add({ExprKind::ellipsis, at, {}, 0, 0, {}, {}});
    std::vector<ExprId> parts;
    bool is_slice = false;
    for (int part = 0; part < 3; ++part) {
      const bool omitted = now().is(":") || now().is(",") || now().is("]");
      if (omitted) {
        parts.push_back(add({ExprKind::absent, now().at, {}, 0, 0, {}, {}}));
      } else {
        KERF_TRY(const ExprId value, expression(0));
        parts.push_back(value);
      }
      if (part < 2 && accept(":")) {
        is_slice = true;
        continue;
      }
      break;
    }
    if (!is_slice && program_[parts[0]].kind == ExprKind::absent)
      return source_.error(at, "expected an index before " + shown(now()));
    if (!is_slice) return parts[0];
    while (parts.size() < 3) parts.push_back(add({ExprKind::absent, at, {}, 0, 0, {}, {}}));
    return add({ExprKind::slice, at, {}, 0, 0, std::move(parts), {}});
  }

  const Source& source_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
  Program program_;
};

}  // namespace

Result<Program> parse_program(const Source& source) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 18;
  if (source.text().size() > kMaxBytes) return source.error(0, "the expression is longer than 256 KiB");
  KERF_TRY(auto tokens, tokenize(source));
  return Parser(source, std::move(tokens)).run();
}

}  // namespace kerf::ir
