#include "propose/synth/trim.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <vector>

#include "base/c_lexer.hpp"
#include "base/text.hpp"

namespace kerf::synth {
namespace {

using Tokens = std::vector<CToken>;

bool is_word(const CToken& token) { return token.kind == CTokenKind::identifier || token.kind == CTokenKind::number; }

/// Words of the code and of its string literals: pragmas name functions there.
void add_words(const Tokens& tokens, std::set<std::string>& words) {
  for (const CToken& token : tokens) {
    if (is_word(token)) words.insert(token.text);
    if (token.kind == CTokenKind::string && token.text.size() > 2)
      add_words(lex_c(std::string_view(token.text).substr(1, token.text.size() - 2)), words);
  }
}

std::set<std::string> words_of(const Tokens& tokens) {
  std::set<std::string> words;
  add_words(tokens, words);
  return words;
}

/// The tokens behind "template <...>" when it stands in front.
std::span<const CToken> without_template(std::span<const CToken> tokens) {
  if (!tokens.front().is("template")) return tokens;
  int depth = 0;
  std::size_t at = 1;
  for (; at < tokens.size(); ++at) {
    depth += tokens[at].is("<") ? 1 : tokens[at].is(">") ? -1 : 0;
    if (depth == 0) break;
  }
  return tokens.subspan(std::min(at + 1, tokens.size()));
}

/// What a declaration outside of functions defines; "" when it is none that we know.
std::string name_of(std::span<const CToken> tokens) {
  tokens = without_template(tokens);
  const auto word_at = [&](std::size_t at) {
    return at < tokens.size() && is_word(tokens[at]) ? tokens[at].text : std::string();
  };
  if (tokens.size() > 1 && starts_directive(tokens[0]) && tokens[1].text.starts_with("if")) return "";
  if (tokens.size() > 1 && starts_directive(tokens[0]) && tokens[1].is("define")) return word_at(2);
  if (!tokens.empty() && (tokens[0].is("struct") || tokens[0].is("using"))) return word_at(1);
  if (!tokens.empty() && tokens[0].is("typedef")) {
    const auto end = std::ranges::find_if(tokens, [](const CToken& token) { return token.is(";"); });
    return word_at(static_cast<std::size_t>(end - tokens.begin()) - 1);
  }
  constexpr std::array<std::string_view, 4> kNotNames{"__attribute__", "__launch_bounds__", "alignas", "_Pragma"};
  for (std::size_t at = 1; at < tokens.size(); ++at)
    if (tokens[at].is("(") && std::ranges::find(kNotNames, tokens[at - 1].text) == kNotNames.end())
      if (std::string name = word_at(at - 1); !name.empty()) return name;
  return "";
}

}  // namespace

/// Reads a layer line by line. An item ends where no bracket and no #if is open and the line ends a declaration.
class Layer::Reader {
 public:
  std::vector<Item> read(std::string_view layer) {
    const Tokens tokens = lex_c(layer);
    std::size_t next = 0;
    int number = 0;
    for (const std::string& line : split(std::string(layer), '\n')) {
      ++number;
      const std::size_t begin = next;
      while (next < tokens.size() && tokens[next].line == number) ++next;
      take(line, std::span(tokens).subspan(begin, next - begin));
    }
    close();
    return std::move(items_);
  }

 private:
  void take(const std::string& line, std::span<const CToken> code) {
    if (code.empty() && declaration_.empty()) {
      if (trim(line).empty()) {
        close();  // a comment that stands alone
        spaced_ = true;
      } else {
        comment_ += line + "\n";
      }
      return;
    }
    declaration_ += line + "\n";
    tokens_.insert(tokens_.end(), code.begin(), code.end());
    if (!code.empty() && code.front().first) directive_ = starts_directive(code.front());
    const bool continued = directive_ && trim(line).ends_with('\\');
    if (directive_) {
      if (code.size() > 1 && starts_directive(code[0])) {
        if (code[1].text.starts_with("if")) ++conditions_;
        if (code[1].is("endif")) --conditions_;
      }
    } else {
      for (const CToken& token : code)
        brackets_ += (token.is("{") || token.is("(") ? 1 : 0) - (token.is("}") || token.is(")") ? 1 : 0);
    }
    const bool closed = !code.empty() && (code.back().is(";") || code.back().is("}"));
    if ((directive_ ? !continued : closed) && conditions_ == 0 && brackets_ == 0) close();
  }

  void close() {
    if (comment_.empty() && declaration_.empty()) return;
    items_.push_back({comment_ + declaration_, tokens_.empty() ? "" : name_of(tokens_), spaced_, words_of(tokens_)});
    comment_.clear();
    declaration_.clear();
    tokens_.clear();
    spaced_ = false;
  }

  std::vector<Item> items_;
  std::string comment_, declaration_;
  Tokens tokens_;  // of the declaration
  int conditions_ = 0, brackets_ = 0;
  bool spaced_ = false, directive_ = false;
};

std::set<std::string> words_of(std::string_view code) { return words_of(lex_c(code)); }

Layer::Layer(std::string_view text) : items_(Reader().read(text)) {}

std::string used_part(std::string_view layer, std::string_view code) { return Layer(layer).used_by(words_of(code)); }

std::string Layer::used_by(std::set<std::string> wanted) const {
  const std::vector<Item>& items = items_;
  std::vector<bool> kept(items.size(), false);  // headings too: whether they are printed is decided below
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (kept[i] || (!items[i].name.empty() && !wanted.contains(items[i].name))) continue;
      kept[i] = grown = true;
      wanted.insert(items[i].words.begin(), items[i].words.end());
    }
  }
  std::string text, heading;  // of items that may follow
  bool spaced = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    spaced |= items[i].spaced;
    if (!kept[i]) continue;
    if (items[i].words.empty()) {
      heading = items[i].text;
      if (i > 0) continue;
    }
    text += (spaced && !text.empty() ? "\n" : "") + (heading.empty() || i == 0 ? heading : heading + "\n");
    if (!items[i].words.empty()) text += items[i].text;
    heading.clear();
    spaced = false;
  }
  return text;
}

}  // namespace kerf::synth
