#include "ir/expression/lexer.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

namespace kerf::ir {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source), text_(source.text()) {}

  Result<std::vector<Token>> run() {
    while (at_ < text_.size()) {
      KERF_TRY_VOID(step());
    }
    push(TokenKind::newline, at_, 0);
    push(TokenKind::end, at_, 0);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void push(TokenKind kind, std::size_t begin, std::size_t size) {
    tokens_.push_back(Token{kind, begin, text_.substr(begin, size), 0, 0});
  }

  Status step() {
    const char c = peek();
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      return {};
    }
    if (c == '\n' || c == ';') {
      if (c == ';' || depth_ == 0) push(TokenKind::newline, at_, 1);
      ++at_;
      return {};
    }
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
      return {};
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_letter(c)) {
      const std::size_t begin = at_;
      while (is_letter(peek()) || is_digit(peek())) ++at_;
      push(TokenKind::name, begin, at_ - begin);
      return {};
    }
    if (c == '"' || c == '\'') return quoted(c);
    return symbol();
  }

  Status number() {
    const std::size_t begin = at_;
    bool real = false;
    while (is_digit(peek())) ++at_;
    if (peek() == '.') {
      real = true;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign))) {
      real = true;
      at_ += sign;
      while (is_digit(peek())) ++at_;
    }
    if (is_letter(peek())) return source_.error(at_, "a number cannot be followed by a letter");
    push(real ? TokenKind::real : TokenKind::integer, begin, at_ - begin);
    const std::string digits(tokens_.back().text);
    if (real) {
      tokens_.back().real = std::strtod(digits.c_str(), nullptr);
      if (!std::isfinite(tokens_.back().real)) return source_.error(begin, "the number does not fit a double");
      return {};
    }
    std::int64_t value = 0;
    for (const char digit : digits)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit - '0', &value))
        return source_.error(begin, "the integer does not fit 64 bits (write it with a '.' to make it a float)");
    tokens_.back().integer = value;
    return {};
  }

  Status quoted(char quote) {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') ++at_;
    if (peek() != quote) return source_.error(begin - 1, "the string has no closing quote");
    push(TokenKind::text, begin, at_ - begin);
    tokens_.back().at = begin - 1;
    ++at_;
    return {};
  }

  Status symbol() {
    static constexpr std::array<std::string_view, 27> kSymbols{"...", "**", "//", "<=", ">=", "==", "!=", "+", "-",
                                                               "*",   "/",  "%",  "@",  "<",  ">",  "&",  "|", "^",
                                                               "~",   "=",  "(",  ")",  "[",  "]",  ",",  ":", "."};
    for (const auto candidate : kSymbols) {
      if (text_.substr(at_, candidate.size()) != candidate) continue;
      if (candidate == "(" || candidate == "[") ++depth_;
      if ((candidate == ")" || candidate == "]") && depth_ > 0) --depth_;
      push(TokenKind::symbol, at_, candidate.size());
      at_ += candidate.size();
      return {};
    }
    const auto byte = static_cast<unsigned char>(peek());
    if (byte > 126 || byte < 32) return source_.error(at_, "unexpected byte outside ASCII text");
    return source_.error(at_, "unexpected '" + std::string(1, peek()) + "'");
  }

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(const Source& source) { return Lexer(source).run(); }

}  // namespace kerf::ir
