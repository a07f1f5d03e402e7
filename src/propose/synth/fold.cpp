#include "propose/synth/fold.hpp"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "base/c_lexer.hpp"

namespace kerf::synth {
namespace {

struct Word {
  std::string before, text;  ///< `before`: what stands between it and the word before
  CTokenKind kind;
  bool is(std::string_view spelling) const { return text == spelling; }
};

class Folding {
 public:
  Folding(std::string_view text, Literals kind) : header_(kind == Literals::header) {
    std::size_t copied = 0;
    for (const CToken& token : lex_c(text)) {
      words_.push_back({std::string(text.substr(copied, token.begin - copied)),
                        std::string(text.substr(token.begin, token.end - token.begin)), token.kind});
      copied = token.end;
    }
    rest_ = text.substr(copied);
  }

  std::string text() {
    for (std::size_t w = 0; w < size();) {
      if (step(w))
        w -= std::min<std::size_t>(w, 6);  // what stands before may fold now
      else
        ++w;
    }
    std::string text;
    for (std::size_t w = 0; w < size(); ++w) text += word(w).before + word(w).text;
    return text + rest_;
  }

 private:
  std::size_t size() const { return words_.size() - gap_; }
  const Word& word(std::size_t w) const { return words_[w < gap_at_ ? w : w + gap_]; }
  Word& word(std::size_t w) { return words_[w < gap_at_ ? w : w + gap_]; }

  /// Words are taken out near where the last ones were: a gap that moves along costs less than closing it each time.
  void erase(std::size_t from, std::size_t to) {
    for (; gap_at_ > from; --gap_at_)
      if (gap_ > 0) words_[gap_at_ - 1 + gap_] = std::move(words_[gap_at_ - 1]);
    for (; gap_at_ < from; ++gap_at_)
      if (gap_ > 0) words_[gap_at_] = std::move(words_[gap_at_ + gap_]);
    gap_ += to - from;
  }

  bool is(std::size_t w, std::string_view spelling) const { return w < size() && word(w).is(spelling); }
  bool is_any(std::size_t w, std::string_view characters) const {
    return w < size() && word(w).text.size() == 1 && characters.find(word(w).text) != characters.npos;
  }
  bool is_integer(std::size_t w) const {
    return w < size() && word(w).kind == CTokenKind::number &&
           std::ranges::all_of(word(w).text, [](unsigned char c) { return std::isdigit(c) != 0; });
  }
  bool is_name(std::size_t w) const { return w < size() && word(w).kind == CTokenKind::identifier; }

  /// Ends an operand, so that an operator behind it has two.
  bool ends_operand(std::size_t w) const {
    return is_any(w, ")]") || (w < size() && word(w).kind == CTokenKind::number) || (is_name(w) && !is(w, "return"));
  }
  /// Begins an expression: nothing on the left binds what follows.
  bool begins(std::size_t w) const { return w == 0 ? header_ : is_any(w - 1, "([{,=<>?:;") || is(w - 1, "return"); }
  /// Nothing on the right binds tighter than a sum.
  bool sum_ends(std::size_t w) const { return w >= size() ? header_ : is_any(w, ")]},;+-<>=?:&|"); }

  /// Removes words [from, to) when only blanks stand between them.
  bool remove(std::size_t from, std::size_t to) {
    for (std::size_t w = from + 1; w < to; ++w)
      if (word(w).before.find_first_not_of(' ') != std::string::npos) return false;
    if (to < size() && word(to).before.empty() && (is_name(to) || is_integer(to))) {
      word(to).before = word(from).before;  // "1 * x" leaves what stood before the 1
    } else if (to < size() && from < size() && !ends_operand(from == 0 ? size() : from - 1)) {
      if (word(to).before.find_first_not_of(' ') != std::string::npos) return false;
      word(to).before = word(from).before;
    }
    erase(from, to);
    return true;
  }

  /// Whether word `w` is in a subscript: sums are integers there.
  bool in_subscript(std::size_t w) const {
    int depth = 0;
    for (; w-- > 0;) {
      if (is_any(w, ";{}")) return false;
      if (is_any(w, ")]")) ++depth;
      if (is_any(w, "([") && --depth < 0) {
        if (is(w, "[")) return true;
        if (w > 0 && is_name(w - 1)) return false;  // arguments of a call
        depth = 0;
      }
    }
    return false;
  }

  /// Folds at word `w`; false when there is nothing.
  bool step(std::size_t w) {
    const bool two = w > 0 && ends_operand(w - 1);
    if (two && is_any(w, "*/") && is(w + 1, "1") && !is(w + 2, ".")) return remove(w, w + 2);
    if (is(w, "1") && is(w + 1, "*") && w + 2 < size() && !ends_operand(w - 1) && !is_any(w - 1, "*/%#"))
      return remove(w, w + 2);
    if (is_integer(w) && begins(w) && (is(w + 1, "+") || is(w + 1, "-")) && is(w + 2, "0") && sum_ends(w + 3))
      return remove(w + 1, w + 3);  // between literals
    if (is(w, "0") && (is(w + 1, "*") || is(w + 1, "%")) && is_integer(w + 2) && !is_any(w - 1, "*/%") && w > 0 &&
        !(is(w + 1, "%") && is(w + 2, "0")))
      return remove(w + 1, w + 3);
    const bool same = is(w, "-") || header_ || in_subscript(w);  // -0.0 + 0 is 0.0, but -0.0 - 0 is -0.0
    if (two && is_any(w, "+-") && is(w + 1, "0") && sum_ends(w + 2) && same) return remove(w, w + 2);
    if (is(w, "0") && begins(w) && is(w + 1, "+") && (header_ || in_subscript(w))) return remove(w, w + 2);
    return step_bracket(w);
  }

  bool step_bracket(std::size_t w) {
    if (!is(w, "(") || (w > 0 && (is_name(w - 1) || is_any(w - 1, ")]>")))) return false;
    const bool single = is(w + 2, ")") && (is_integer(w + 1) || (header_ && is_name(w + 1)));
    if (single) {
      word(w + 1).before = word(w).before;
      erase(w + 2, w + 3);
      erase(w, w + 1);
      return true;
    }
    if (!header_ || !is(w + 1, "(")) return false;
    std::size_t end = w + 2;
    for (int depth = 2; end < size(); ++end) {
      depth += is(end, "(") ? 1 : is(end, ")") ? -1 : 0;
      if (depth == 1) break;
    }
    if (!is(end + 1, ")")) return false;
    erase(end, end + 1);
    erase(w + 1, w + 2);
    return true;
  }

  bool header_;
  std::vector<Word> words_;
  std::size_t gap_at_ = 0, gap_ = 0;  ///< words_[gap_at_, gap_at_ + gap_) were taken out
  std::string rest_;
};

}  // namespace

std::string folded(std::string_view text, Literals kind) { return Folding(text, kind).text(); }

}  // namespace kerf::synth
