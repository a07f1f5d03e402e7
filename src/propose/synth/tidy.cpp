#include "propose/synth/tidy.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <span>
#include <vector>

#include "propose/synth/calls.hpp"
#include "propose/synth/tokens.hpp"

namespace kerf::synth {
namespace {

bool is_one_of(const CToken& token, std::span<const std::string_view> words) {
  return std::ranges::find(words, token.text) != words.end();
}

/// A definition of a function, or a declaration of one: then it has no body.
struct Function {
  std::string name;
  std::size_t start = 0;      ///< its first token
  std::size_t name_at = 0;    ///< of its name
  Piece parameters, body;     ///< between the parentheses; with braces
  std::vector<Piece> pieces;  ///< the parameters
};

/// The functions outside of others and of structures.
std::vector<Function> functions_of(const Tokens& tokens) {
  constexpr std::array<std::string_view, 7> kNotNames{"__attribute__", "__launch_bounds__",   "alignas",
                                                      "_Pragma",       "KERF_KERNEL_THREADS", "KERF_KERNEL_RESIDENT",
                                                      "__align__"};
  std::vector<Function> functions;
  for (std::size_t t = 0, start = 0; t < tokens.size();) {
    if (starts_directive(tokens[t])) {
      start = t = after_directive(tokens, t);
    } else if (tokens[t].is(";") || tokens[t].is("}")) {
      start = ++t;
    } else if (tokens[t].is("{") || tokens[t].is("[")) {
      t = after_bracket(tokens, t);
      if (tokens[t - 1].is("}") && (t == tokens.size() || !tokens[t].is(";"))) start = t;
    } else if (tokens[t].is("(")) {
      const std::size_t end = after_bracket(tokens, t);
      const bool named = t > start && is_identifier(tokens[t - 1]) && !is_one_of(tokens[t - 1], kNotNames);
      if (named && end < tokens.size() && (tokens[end].is("{") || tokens[end].is(";"))) {
        Function function{tokens[t - 1].text, start, t - 1, {t + 1, end - 1}, {end, end + 1}, {}};
        function.pieces = pieces_between(tokens, t + 1, end - 1);
        if (tokens[end].is("{")) function.body.end = after_bracket(tokens, end);
        start = t = function.body.end;
        functions.push_back(std::move(function));
      } else {
        t = end;
      }
    } else {
      ++t;
    }
  }
  return functions;
}

/// The name a declarator or parameter declares: its last identifier before brackets.
const CToken* declared(const Tokens& tokens, const Piece& piece) {
  const CToken* name = nullptr;
  for (std::size_t t = piece.begin; t < piece.end && !tokens[t].is("[") && !tokens[t].is("="); ++t)
    if (is_identifier(tokens[t])) name = &tokens[t];
  return name;
}

/// One round: says what of the code goes.
class Unused {
 public:
  Unused(std::string_view code, const Words& entries)
      : code_(code),
        entries_(entries),
        tokens_(lex_c(code)),
        macros_(macros_of(tokens_)),
        functions_(functions_of(tokens_)) {
    for (std::size_t t = 0; t < tokens_.size(); ++t) {
      if (is_identifier(tokens_[t])) at_[tokens_[t].text].push_back(t);
      if (tokens_[t].kind == CTokenKind::string)  // pragmas
        for (const std::string& word : identifiers(trimmed_literal(tokens_[t].text))) in_strings_.insert(word);
    }
  }

  /// The code without it.
  std::string removed() {
    for (const Function& function : functions_) {
      if (entries_.contains(function.name) || drop_whole(function)) continue;
      drop_parameters(function);
    }
    for (const Function& function : functions_)
      if (function.body.end > function.body.begin + 1) drop_locals(function.body);
    std::ranges::sort(gone_);
    std::string kept;
    std::size_t copied = 0;
    for (const auto& [begin, end] : gone_) {
      if (begin > copied) kept += code_.substr(copied, begin - copied);
      copied = std::max(copied, end);
    }
    return kept += code_.substr(copied);
  }

 private:
  static std::string trimmed_literal(const std::string& text) {
    return text.size() > 2 ? text.substr(1, text.size() - 2) : std::string();
  }

  bool used_between(const std::string& name, std::size_t from, std::size_t to) const {
    if (in_strings_.contains(name)) return true;
    for (const std::size_t t : at_.at(name))
      if (t >= from && t < to && !is_member(tokens_, t)) return true;
    if (macros_.empty()) return false;
    Words words = identifiers_between(tokens_, from, to);
    add_macro_words(macros_, words);
    return words.contains(name);
  }

  /// Whether nothing happens when the tokens are not evaluated.
  bool is_pure(std::size_t from, std::size_t to) const {
    for (std::size_t t = from; t < to; ++t) {
      const CToken& token = tokens_[t];
      if (t + 1 < to && ((token.is("+") && tokens_[t + 1].is("+")) || (token.is("-") && tokens_[t + 1].is("-"))) &&
          token.end == tokens_[t + 1].begin)
        return false;
      if (token.is("=")) {
        const bool before = t > from && is_any(tokens_[t - 1], "=<>!");
        if (!before && !(t + 1 < to && tokens_[t + 1].is("="))) return false;
      }
      if (token.is("{") || token.is(";")) return false;
      if (is_identifier(token) && t + 1 < to && tokens_[t + 1].is("(") && !only_gives_value(token.text)) return false;
    }
    return true;
  }
  /// Functions that only give a value; the others may be barriers, shuffles or atomics, or write somewhere.
  bool only_gives_value(const std::string& name) const {
    constexpr std::array<std::string_view, 8> kDoSomething{"atom", "barrier", "shuffle", "shfl",
                                                           "sync", "store",   "copy",    "prefetch"};
    if (name == "KERF_GROUP_ID" || name == "KERF_LOCAL_ID") return true;
    const auto function = std::ranges::find(functions_, name, &Function::name);
    if (function == functions_.end())  // of the language or its layer; macros in capitals may be anything
      return std::ranges::none_of(name, [](unsigned char c) { return std::isupper(c) != 0; }) &&
             std::ranges::none_of(kDoSomething, [&](std::string_view word) { return name.find(word) != name.npos; });
    for (std::size_t t = function->start; t < function->parameters.end; ++t)
      if (tokens_[t].is("void") || tokens_[t].is("&") || tokens_[t].is("KERF_LOCAL")) return false;
    for (std::size_t t = function->body.begin + 1; t < function->body.end; ++t) {
      if (starts_directive(tokens_[t])) return false;
      const bool called = is_identifier(tokens_[t]) && tokens_[t + 1].is("(");
      if (called && tokens_[t].text != name && !only_gives_value(tokens_[t].text)) return false;
      if (!tokens_[t].is("=") || tokens_[t + 1].is("=") || is_any(tokens_[t - 1], "=<>!")) continue;
      const std::size_t target = t - (is_any(tokens_[t - 1], "+-*/|&") ? 2 : 1);  // a variable of its own?
      if (!is_identifier(tokens_[target]) || is_member(tokens_, target) || tokens_[target - 1].is("*")) return false;
    }
    return true;
  }
  static bool is_any(const CToken& token, std::string_view characters) {
    return token.text.size() == 1 && characters.find(token.text) != std::string_view::npos;
  }

  /// A function whose name stands nowhere but in its definition.
  bool drop_whole(const Function& function) {
    if (at_.at(function.name).size() > 1 || in_strings_.contains(function.name)) return false;
    std::size_t begin = line_start(tokens_[function.start].begin);
    while (begin > 0) {  // the comment right above it
      const std::size_t above = line_start(begin - 1);
      if (code_.substr(above, begin - above).find_first_not_of(' ') == std::string_view::npos) break;
      if (!code_.substr(code_.find_first_not_of(' ', above)).starts_with("//")) break;
      begin = above;
    }
    gone_.emplace_back(begin, line_end(tokens_[function.body.end - 1].end));
    return true;
  }

  std::size_t line_start(std::size_t byte) const {
    const std::size_t before = byte == 0 ? std::string_view::npos : code_.rfind('\n', byte - 1);
    return before == std::string_view::npos ? 0 : before + 1;
  }
  std::size_t line_end(std::size_t byte) const {
    const std::size_t end = code_.find('\n', byte);
    return end == std::string_view::npos ? code_.size() : end + 1;
  }

  /// The lists of arguments of all calls; false when the function is also used otherwise.
  bool find_calls(const Function& function, std::vector<std::vector<Piece>>& calls) const {
    for (const std::size_t at : at_.at(function.name)) {
      const auto own = std::ranges::find(functions_, at, &Function::name_at);
      if (own != functions_.end()) {
        if (own->pieces.size() != function.pieces.size()) return false;
        continue;
      }
      std::size_t open = at + 1;
      if (open < tokens_.size() && tokens_[open].is("<"))
        while (open < tokens_.size() && !tokens_[open].is("(") && !tokens_[open].is(";")) ++open;
      if (is_member(tokens_, at) || open >= tokens_.size() || !tokens_[open].is("(")) return false;
      calls.push_back(pieces_between(tokens_, open + 1, after_bracket(tokens_, open) - 1));
      if (calls.back().size() != function.pieces.size()) return false;
    }
    return true;
  }

  /// Parameter `p` of one of the definitions with this name.
  bool uses(const Function& function, std::size_t p) const {
    const Piece& piece = function.pieces[p];
    const CToken* const name = declared(tokens_, piece);
    if (name == nullptr || piece.end < piece.begin + 2 || name->is(kParametersMark)) return true;
    if (function.body.end == function.body.begin + 1) return false;  // declared only
    for (std::size_t t = function.start; t < function.name_at; ++t)  // a template may deduce what it is from it
      if (tokens_[t].is("template") &&
          std::ranges::any_of(identifiers_between(tokens_, piece.begin, piece.end), [&](const std::string& word) {
            return word != name->text && used_between(word, t, function.name_at - 1) && !word.starts_with("kerf_") &&
                   word != "int" && word != "float";
          }))
        return true;
    for (const Piece& other : function.pieces)
      if (other.begin != piece.begin && used_between(name->text, other.begin, other.end)) return true;
    return used_between(name->text, function.body.begin, function.body.end);
  }

  void drop_parameters(const Function& function) {
    const std::size_t count = function.pieces.size();
    std::vector<bool> dropped(count);
    for (std::size_t p = 0; p < count; ++p) dropped[p] = !uses(function, p);
    if (std::ranges::find(dropped, true) == dropped.end()) return;
    std::vector<std::vector<Piece>> calls;
    if (!find_calls(function, calls)) return;
    for (const Function& other : functions_)
      for (std::size_t p = 0; other.name == function.name && p < count; ++p)
        if (uses(other, p)) dropped[p] = false;
    for (const auto& call : calls)
      for (std::size_t p = 0; p < count; ++p)
        if (!is_pure(call[p].begin, call[p].end)) dropped[p] = false;
    drop_pieces(function.pieces, dropped);
    for (const auto& call : calls) drop_pieces(call, dropped);
  }

  void drop_pieces(const std::vector<Piece>& pieces, const std::vector<bool>& dropped) {
    bool behind = false;  // something that stays
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const std::size_t begin = tokens_[pieces[p].begin].begin, end = tokens_[pieces[p].end - 1].end;
      if (!dropped[p])
        behind = true;
      else if (behind)
        gone_.emplace_back(tokens_[pieces[p - 1].end - 1].end, end);
      else
        gone_.emplace_back(begin, p + 1 < pieces.size() ? tokens_[pieces[p + 1].begin].begin : end);
    }
  }

  void drop_locals(const Piece& body) {
    std::vector<std::size_t> blocks;  // where those that are open end
    for (std::size_t t = body.begin; t < body.end; ++t) {
      if (tokens_[t].is("{")) blocks.push_back(after_bracket(tokens_, t) - 1);
      if (tokens_[t].is("}") && !blocks.empty()) blocks.pop_back();
      if (starts_directive(tokens_[t])) {
        t = after_directive(tokens_, t);  // what it stands before stays
        if (t >= body.end) break;
      }
      if (tokens_[t].is("struct") || tokens_[t].is("union")) {  // members are no locals
        while (t + 1 < body.end && !tokens_[t].is("{") && !tokens_[t].is(";")) ++t;
        if (tokens_[t].is("{")) t = after_bracket(tokens_, t) - 1;
        continue;
      }
      if (blocks.empty() || !(tokens_[t].is(";") || tokens_[t].is("{") || tokens_[t].is("}"))) continue;
      if (t + 1 < body.end) drop_declared(t + 1, blocks.back());
    }
  }

  /// The first declarator of the statement at `at`; `at` when it declares nothing that we know.
  std::size_t first_declarator(std::size_t at, std::size_t block) const {
    constexpr std::array<std::string_view, 22> kOthers{
        "return", "else",     "goto",     "case",        "using",  "typedef",   "struct", "enum",
        "break",  "continue", "if",       "for",         "while",  "do",        "switch", "default",
        "static", "alignas",  "volatile", "KERF_SHARED", "extern", "KERF_LOCAL"};
    std::size_t t = at, types = 0;
    for (; t + 1 < block && is_identifier(tokens_[t]); ++t) {
      if (is_one_of(tokens_[t], kOthers) || starts_directive(tokens_[t])) return at;
      const CToken& next = tokens_[t + 1];
      const bool qualifies = tokens_[t].is("const") || tokens_[t].is("constexpr") || tokens_[t].is("KERF_RESTRICT");
      const bool ends = next.is("=") || next.is(";") || next.is("[") || next.is(",");
      if (ends) return types > 0 && !qualifies && !(next.is("=") && tokens_[t + 2].is("=")) ? t : at;
      if (!qualifies) ++types;
      if (next.is("*")) ++t;
    }
    return at;
  }

  void drop_declared(std::size_t at, std::size_t block) {
    const std::size_t first = first_declarator(at, block);
    if (first == at) return;
    std::size_t end = first;
    while (end < block && !tokens_[end].is(";"))
      end =
          tokens_[end].is("(") || tokens_[end].is("[") || tokens_[end].is("{") ? after_bracket(tokens_, end) : end + 1;
    if (end >= block) return;
    const std::vector<Piece> pieces = pieces_between(tokens_, first, end);
    std::vector<bool> dropped;
    for (const Piece& piece : pieces) {
      if (!is_identifier(tokens_[piece.begin])) return;
      if (piece.end > piece.begin + 1 && !tokens_[piece.begin + 1].is("=") && !tokens_[piece.begin + 1].is("[")) return;
      const std::string& name = tokens_[piece.begin].text;
      std::size_t value = piece.begin + 1;
      while (value < piece.end && tokens_[value].is("[")) value = after_bracket(tokens_, value);
      if (value < piece.end && tokens_[value].is("=")) ++value;
      dropped.push_back(!used_between(name, piece.begin + 1, block) && is_pure(value, piece.end));
    }
    if (std::ranges::find(dropped, false) != dropped.end()) return drop_pieces(pieces, dropped);
    const std::size_t begin = line_start(tokens_[at].begin), stop = line_end(tokens_[end].end);
    const bool alone =
        code_.substr(begin, tokens_[at].begin - begin).find_first_not_of(' ') == std::string_view::npos &&
        (end + 1 == tokens_.size() || tokens_[end + 1].begin >= stop);
    gone_.emplace_back(alone ? begin : tokens_[at].begin, alone ? stop : tokens_[end].end);
  }

  std::string_view code_;
  const Words& entries_;
  Tokens tokens_;
  Macros macros_;
  std::vector<Function> functions_;
  std::map<std::string, std::vector<std::size_t>> at_;  ///< where each identifier stands
  Words in_strings_;
  std::vector<std::pair<std::size_t, std::size_t>> gone_;  ///< bytes
};

}  // namespace

std::string without_unused(std::string_view code, const std::set<std::string>& entries) {
  std::string text(code);
  while (true) {  // what one round leaves out may have been the only use of something
    std::string next = Unused(text, entries).removed();
    if (next.size() == text.size()) return text;
    text = std::move(next);
  }
}

}  // namespace kerf::synth
