#include "base/c_lexer.hpp"

#include <array>
#include <cctype>
#include <utility>

namespace kerf {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) {  // bytes above ASCII belong to identifiers in UTF-8
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Characters of the source with splices (and trigraphs) taken out, each with its place in the source.
class Characters {
 public:
  Characters(std::string_view source, bool trigraphs) : source_(source), trigraphs_(trigraphs) { settle(); }

  bool done() const { return at_ >= source_.size(); }
  char now() const { return current_; }
  std::size_t place() const { return at_; }
  std::size_t end_of_last() const { return last_end_; }  ///< one past the last character taken
  int line() const { return line_; }
  char peek(int ahead = 1) const {
    Characters copy = *this;
    for (int i = 0; i < ahead && !copy.done(); ++i) copy.take();
    return copy.done() ? '\0' : copy.now();
  }
  char take() {
    const char c = current_;
    if (source_[at_] == '\n') ++line_;
    at_ += width_;
    last_end_ = at_;
    settle();
    return c;
  }
  /// The rest of a raw string, in which nothing is replaced: from here up to and with `close`, or to the end.
  std::string take_raw(std::string_view close) {
    const auto found = source_.find(close, at_);
    const std::size_t end = found == std::string_view::npos ? source_.size() : found + close.size();
    std::string text(source_.substr(at_, end - at_));
    for (const char c : text) line_ += c == '\n' ? 1 : 0;
    at_ = last_end_ = end;
    settle();
    return text;
  }
  /// The text up to the "(" that opens a raw string, when one can be opened here.
  std::string_view raw_delimiter() const {
    const auto open = source_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 16) return kNone;
    const auto name = source_.substr(at_, open - at_);
    for (const char c : name)
      if (is_space(c) || c == ')' || c == '\\' || c == '"') return kNone;
    return name;
  }
  static constexpr std::string_view kNone = "\\";

 private:
  /// Skips splices at the current place and reads the character there.
  void settle() {
    for (;;) {
      width_ = 1;
      current_ = at_ < source_.size() ? source_[at_] : '\0';
      if (trigraphs_) read_trigraph();
      if (current_ != '\\') return;
      const auto rest = source_.substr(at_ + width_);
      const std::size_t splice = rest.starts_with("\n") ? 1 : rest.starts_with("\r\n") ? 2 : 0;
      if (splice == 0) return;
      at_ += width_ + splice;
      ++line_;
    }
  }
  void read_trigraph() {
    static constexpr std::string_view kFrom = "=/'()!<>-", kTo = "#\\^[]|{}~";
    if (source_.substr(at_, 2) != "??" || at_ + 2 >= source_.size()) return;
    const auto which = kFrom.find(source_[at_ + 2]);
    if (which == std::string_view::npos) return;
    current_ = kTo[which];
    width_ = 3;
  }

  std::string_view source_;
  bool trigraphs_;
  std::size_t at_ = 0, width_ = 1, last_end_ = 0;
  int line_ = 1;
  char current_ = '\0';
};

class Lexer {
 public:
  Lexer(std::string_view source, const CLexOptions& options) : characters_(source, options.trigraphs) {}

  std::vector<CToken> run() {
    while (!characters_.done()) {
      const char c = characters_.now();
      if (is_space(c)) {
        if (c == '\n') first_ = true;
        blank_ = true;
        characters_.take();
      } else if (c == '/' && characters_.peek() == '/') {
        while (!characters_.done() && characters_.now() != '\n') characters_.take();
        blank_ = true;
      } else if (c == '/' && characters_.peek() == '*') {
        skip_comment();
      } else {
        take_token(c);
      }
    }
    return std::move(tokens_);
  }

 private:
  void skip_comment() {
    characters_.take();
    characters_.take();
    char before = '\0';
    while (!characters_.done()) {
      const char c = characters_.take();
      if (before == '*' && c == '/') break;
      before = c;
    }
    blank_ = true;
  }

  void take_token(char c) {
    CToken token;
    token.begin = characters_.place();
    token.line = characters_.line();
    token.first = std::exchange(first_, false);
    token.after_blank = std::exchange(blank_, false);
    if (is_digit(c) || (c == '.' && is_digit(characters_.peek()))) {
      number(token);
    } else if (is_word(c)) {
      word(token);
    } else if (c == '"' || c == '\'') {
      literal(token);
    } else {
      punctuator(token);
    }
    token.end = characters_.end_of_last();
    tokens_.push_back(std::move(token));
  }

  void number(CToken& token) {
    token.kind = CTokenKind::number;
    while (!characters_.done()) {
      const char c = characters_.now();
      const bool sign = (c == '+' || c == '-') && !token.text.empty() &&
                        std::string_view("eEpP").find(token.text.back()) != std::string_view::npos &&
                        !is_hex_digit_e(token);
      const bool separator = c == '\'' && is_word(characters_.peek());
      if (!is_word(c) && c != '.' && !sign && !separator) return;
      token.text += characters_.take();
    }
  }
  /// "0x1e+2" is a sum: in a hexadecimal number "e" is a digit.
  static bool is_hex_digit_e(const CToken& token) {
    const bool hexadecimal = token.text.starts_with("0x") || token.text.starts_with("0X");
    return hexadecimal && (token.text.back() == 'e' || token.text.back() == 'E');
  }

  void word(CToken& token) {
    token.kind = CTokenKind::identifier;
    while (!characters_.done() && is_word(characters_.now())) token.text += characters_.take();
    if (characters_.done() || (characters_.now() != '"' && characters_.now() != '\'')) return;
    static constexpr std::array<std::string_view, 4> kPrefixes{"u8", "u", "U", "L"};
    std::string_view prefix = token.text;
    const bool raw = characters_.now() == '"' && prefix.ends_with("R");
    if (raw) prefix.remove_suffix(1);
    bool known = prefix.empty() && raw;
    for (const auto one : kPrefixes) known |= prefix == one;
    if (known && raw && raw_literal(token)) return;
    if (known && !raw) literal(token);
  }

  bool raw_literal(CToken& token) {
    Characters opened = characters_;
    opened.take();
    const auto delimiter = opened.raw_delimiter();
    if (delimiter == Characters::kNone) return false;
    const std::string close = ")" + std::string(delimiter) + "\"";
    token.kind = CTokenKind::string;
    token.text += characters_.take();
    token.text += characters_.take_raw(close);
    return true;
  }

  void literal(CToken& token) {
    const char quote = characters_.now();
    token.kind = quote == '"' ? CTokenKind::string : CTokenKind::character;
    token.text += characters_.take();
    while (!characters_.done() && characters_.now() != '\n') {
      const char c = characters_.take();
      token.text += c;
      if (c == quote) return;
      if (c == '\\' && !characters_.done() && characters_.now() != '\n') token.text += characters_.take();
    }
  }

  void punctuator(CToken& token) {
    static constexpr std::array<std::pair<std::string_view, char>, 5> kDigraphs{
        {{"<:", '['}, {":>", ']'}, {"<%", '{'}, {"%>", '}'}, {"%:", '#'}}};
    const char c = characters_.take();
    token.text = c;
    if (characters_.done()) return;
    const std::string pair{c, characters_.now()};
    for (const auto& [spelling, meaning] : kDigraphs) {
      if (pair != spelling) continue;
      // "<::" opens no array when it begins "<::name".
      if (spelling == "<:" && characters_.peek() == ':' && characters_.peek(2) != ':' && characters_.peek(2) != '>')
        return;
      token.text = meaning;
      characters_.take();
      return;
    }
  }

  Characters characters_;
  std::vector<CToken> tokens_;
  bool first_ = true, blank_ = false;
};

}  // namespace

std::vector<CToken> lex_c(std::string_view source, const CLexOptions& options) { return Lexer(source, options).run(); }

std::vector<std::vector<CToken>> logical_lines(const std::vector<CToken>& tokens) {
  std::vector<std::vector<CToken>> lines;
  for (const CToken& token : tokens) {
    if (token.first || lines.empty()) lines.emplace_back();
    lines.back().push_back(token);
  }
  return lines;
}

std::string plain_source(std::string_view source) {
  std::string plain;
  for (const CToken& token : lex_c(source)) {
    if (!plain.empty() && (token.first || token.after_blank)) plain += token.first ? '\n' : ' ';
    plain += token.text;
  }
  if (!plain.empty()) plain += '\n';
  return plain;
}

}  // namespace kerf
