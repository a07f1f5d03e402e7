#include "propose/synth/trim.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <vector>

#include "base/text.hpp"

namespace kerf::synth {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> words;
  for (std::size_t i = 0; i < text.size();) {
    if (!in_word(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    words.emplace(text.substr(i, end - i));
    i = end;
  }
  return words;
}

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find("//")); }

/// The word that ends before `end`, blanks between left out.
std::string_view word_before(std::string_view text, std::size_t end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && in_word(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// The word after `key` when `text` starts with `key`, else "".
std::string_view word_after(std::string_view text, std::string_view key) {
  if (!text.starts_with(key)) return {};
  text = trim(text.substr(key.size()));
  return text.substr(0, static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), in_word) - text.begin()));
}

/// What a declaration outside of functions defines; "" when it is none that we know.
std::string_view name_of(std::string_view declaration) {
  if (declaration.starts_with("template"))  // templates' heads stand in a line of their own
    declaration = trim(declaration.substr(std::min(declaration.find('\n'), declaration.size())));
  for (const std::string_view key : {"#define ", "struct ", "using "})
    if (const auto name = word_after(declaration, key); !name.empty()) return name;
  if (declaration.starts_with("typedef "))
    return word_before(declaration, std::min(declaration.find(';'), declaration.size()));
  constexpr std::array<std::string_view, 4> kNotNames{"__attribute__", "__launch_bounds__", "alignas", "_Pragma"};
  for (std::size_t at = declaration.find('('); at != std::string_view::npos; at = declaration.find('(', at + 1))
    if (const auto name = word_before(declaration, at);
        !name.empty() && std::find(kNotNames.begin(), kNotNames.end(), name) == kNotNames.end())
      return name;
  return {};
}

struct Item {
  std::string text;             ///< with the comment above it
  std::string name;             ///< "": always kept
  bool spaced = false;          ///< a blank line stands before it
  std::set<std::string> words;  ///< of the declaration
};

/// Reads a layer line by line. An item ends where no bracket and no #if is open and the line ends a declaration.
class Reader {
 public:
  std::vector<Item> read(std::string_view layer) {
    for (const std::string& line : split(std::string(layer), '\n')) take(line);
    close();
    return std::move(items_);
  }

 private:
  void take(const std::string& line) {
    const std::string_view code = trim(without_comment(line));
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
    const bool directive = code.starts_with('#') || continued_;
    continued_ = directive && code.ends_with('\\');
    if (directive) {
      if (code.starts_with("#if")) ++conditions_;
      if (code.starts_with("#endif")) --conditions_;
    } else {
      for (const char c : code) brackets_ += (c == '{' || c == '(') - (c == '}' || c == ')');
    }
    const bool ends = directive ? !continued_ : code.ends_with(';') || code.ends_with('}');
    if (ends && conditions_ == 0 && brackets_ == 0) close();
  }

  void close() {
    if (comment_.empty() && declaration_.empty()) return;
    const std::string_view first = trim(declaration_);
    Item item{comment_ + declaration_, std::string(first.starts_with("#if") ? "" : name_of(first)), spaced_,
              words_of(first)};
    items_.push_back(std::move(item));
    comment_.clear();
    declaration_.clear();
    spaced_ = false;
  }

  std::vector<Item> items_;
  std::string comment_, declaration_;
  int conditions_ = 0, brackets_ = 0;
  bool spaced_ = false, continued_ = false;
};

}  // namespace

std::string used_part(std::string_view layer, std::string_view code) {
  const std::vector<Item> items = Reader().read(layer);
  std::set<std::string> wanted = words_of(code);
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
