#include "base/template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "base/text.hpp"

namespace kerf::templates {
namespace {

constexpr int kDeepestValue = 8;     // values within values; more is a cycle
constexpr int kDeepestInclude = 16;  // files within files

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && in_word(text[end])) ++end;
  return text.substr(at, end - at);
}

auto bad(std::string_view where, const std::string& what) {
  return fail(Errc::invalid_input, fmt::format("{}: {}", where, what));
}

/// One line of a template, or a block of them.
struct Part {
  enum class Kind { line, choice, loop, let, include } kind = Kind::line;
  int number = 0;    ///< of its line in the file, from 1
  std::string text;  ///< the line; of a choice: the condition; of a loop: the list; of a let: the text; the file
  std::string name;  ///< of the loop's variable or of the let
  int indent = 0;    ///< columns before an include
  std::vector<std::vector<Part>> blocks;  ///< a loop's body; a choice's: if it holds, then what stands after %else
};

/// Lines to parts; reads up to a directive that ends the block it was called for.
class Parser {
 public:
  Parser(std::string_view file, std::string_view text) : file_(file), lines_(split(text, '\n')) {
    if (!lines_.empty() && lines_.back().empty()) lines_.pop_back();
  }

  Result<std::vector<Part>> parse() {
    KERF_TRY(auto parts, block());
    if (at_ < lines_.size()) return bad(here(), fmt::format("{} without %if or %for", first_word(lines_[at_])));
    return parts;
  }

 private:
  static std::string_view first_word(std::string_view line) {
    const std::string_view words = trim(line);
    return words.substr(0, words.find(' '));
  }
  static bool ends_block(std::string_view word) {
    return word == "%elif" || word == "%else" || word == "%endif" || word == "%endfor";
  }
  std::string here() const { return fmt::format("{}:{}", file_, at_ + 1); }
  std::string_view rest() const { return trim(trim(lines_[at_]).substr(first_word(lines_[at_]).size())); }

  Result<std::vector<Part>> block() {
    std::vector<Part> parts;
    while (at_ < lines_.size() && !ends_block(first_word(lines_[at_]))) {
      const std::string_view word = first_word(lines_[at_]);
      Part part;
      part.number = static_cast<int>(at_) + 1;
      if (word == "%if") {
        KERF_TRY(part, choice());
      } else if (word == "%for") {
        KERF_TRY(part, loop());
      } else if (word == "%let") {
        KERF_TRY(part, let());
      } else if (word == "%include") {
        KERF_TRY(part, include());
      } else {
        part.text = lines_[at_++];
      }
      parts.push_back(std::move(part));
    }
    return parts;
  }

  /// The block after this line; `at_` is then at the directive that ends it.
  Result<std::vector<Part>> body(std::string_view directive, int number) {
    ++at_;
    KERF_TRY(auto parts, block());
    if (at_ == lines_.size()) return bad(fmt::format("{}:{}", file_, number), fmt::format("{} has no end", directive));
    return parts;
  }

  /// An %elif is a choice in the other's last block.
  Result<Part> choice() {
    Part part;
    part.kind = Part::Kind::choice;
    part.number = static_cast<int>(at_) + 1;
    part.text = rest();
    if (part.text.empty()) return bad(here(), "%if needs a condition");
    KERF_TRY(part.blocks.emplace_back(), body("%if", part.number));
    const std::string_view word = first_word(lines_[at_]);
    if (word == "%elif") {
      KERF_TRY(Part other, choice());
      part.blocks.emplace_back().push_back(std::move(other));
      return part;  // its %endif is ours
    }
    if (word == "%else") {
      KERF_TRY(part.blocks.emplace_back(), body("%else", part.number));
    }
    if (first_word(lines_[at_]) != "%endif")
      return bad(here(), fmt::format("{} where %endif of line {} is missing", first_word(lines_[at_]), part.number));
    ++at_;
    return part;
  }

  Result<Part> loop() {
    Part part;
    part.kind = Part::Kind::loop;
    part.number = static_cast<int>(at_) + 1;
    const std::string words(rest());
    const std::size_t in = words.find(" in $");
    part.name = words.substr(0, in);
    if (in == std::string::npos || part.name.empty() || word_at(part.name, 0).size() != part.name.size())
      return bad(here(), "a loop reads '%for item in $LIST'");
    part.text = words.substr(in + 4);
    KERF_TRY(part.blocks.emplace_back(), body("%for", part.number));
    if (first_word(lines_[at_]) != "%endfor")
      return bad(here(), fmt::format("{} where %endfor of line {} is missing", first_word(lines_[at_]), part.number));
    ++at_;
    return part;
  }

  Result<Part> let() {
    Part part;
    part.kind = Part::Kind::let;
    part.number = static_cast<int>(at_) + 1;
    const std::string_view words = rest();
    part.name = word_at(words, 0);
    const std::string_view after = trim(words.substr(part.name.size()));
    if (part.name.empty() || !after.starts_with('=')) return bad(here(), "a definition reads '%let NAME = text'");
    part.text = trim(after.substr(1));
    ++at_;
    return part;
  }

  Result<Part> include() {
    Part part;
    part.kind = Part::Kind::include;
    part.number = static_cast<int>(at_) + 1;
    const std::string_view words = rest();
    if (words.size() < 3 || words.front() != '"' || words.back() != '"')
      return bad(here(), "an include reads '%include \"file\"'");
    part.text = words.substr(1, words.size() - 2);
    part.indent = static_cast<int>(lines_[at_].find('%'));
    ++at_;
    return part;
  }

  std::string_view file_;
  std::vector<std::string> lines_;
  std::size_t at_ = 0;
};

/// `text` with `indent` spaces before every line but the first and the empty ones.
std::string hung(const std::string& text, std::size_t indent) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] == '\n' && i + 1 < text.size() && text[i + 1] != '\n') result.append(indent, ' ');
  }
  return result;
}

class Writer {
 public:
  explicit Writer(const Environment& environment) : environment_(environment) {}

  Result<std::string> file(std::string_view name, std::string_view text) {
    if (++includes_ > kDeepestInclude) return bad(name, "files include each other");
    KERF_TRY(const std::vector<Part> parts, Parser(name, text).parse());
    std::string result;
    KERF_TRY_VOID(scope(name, parts, result));
    --includes_;
    return result;
  }

  Result<std::string> line(std::string_view where, std::string_view text, int depth) {
    if (depth > kDeepestValue) return bad(where, "values refer to each other");
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] == '$' && i + 1 < text.size() && text[i + 1] == '$') {
        result += '$';
        i += 2;
      } else if (std::size_t end = i; const auto name = reference(text, end)) {
        KERF_TRY(const Value value, find(where, *name, text, end));
        if (value.text() == nullptr)
          return bad(where,
                     fmt::format("${} is {}, not a text", *name, value.list() != nullptr ? "a list" : "a record"));
        KERF_TRY(std::string inner, environment_.nested_values ? line(where, *value.text(), depth + 1)
                                                               : Result<std::string>(*value.text()));
        result += inner;
        i = end;
      } else {
        result += text[i++];
      }
    }
    return result;
  }

 private:
  /// A file or the body of a loop: what is defined in it ends with it.
  Status scope(std::string_view file_name, const std::vector<Part>& parts, std::string& result) {
    const std::size_t known = variables_.size();
    KERF_TRY_VOID(block(file_name, parts, result));
    variables_.erase(variables_.begin() + static_cast<std::ptrdiff_t>(known), variables_.end());
    return {};
  }

  Status block(std::string_view file_name, const std::vector<Part>& parts, std::string& result) {
    for (const Part& part : parts) {
      const std::string where = fmt::format("{}:{}", file_name, part.number);
      switch (part.kind) {
        case Part::Kind::line: KERF_TRY_VOID(plain(where, part.text, result)); break;
        case Part::Kind::choice: KERF_TRY_VOID(choice(file_name, where, part, result)); break;
        case Part::Kind::loop: KERF_TRY_VOID(loop(file_name, where, part, result)); break;
        case Part::Kind::let: {
          KERF_TRY(Value value, value_of(where, part.text));
          variables_.emplace_back(part.name, std::move(value));
          break;
        }
        case Part::Kind::include: KERF_TRY_VOID(include(where, part, result)); break;
      }
    }
    return {};
  }

  Status plain(const std::string& where, const std::string& text, std::string& result) {
    KERF_TRY(std::string done, line(where, text, 0));
    const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
    if (trim(done).empty() && !trim(text).empty()) return {};
    while (!done.empty() && (done.back() == '\n' || done.back() == ' ')) done.pop_back();
    result += hung(done, indent) + "\n";
    return {};
  }

  Status choice(std::string_view file_name, const std::string& where, const Part& part, std::string& result) {
    KERF_TRY(const bool chosen, holds(where, part.text));
    if (chosen) return block(file_name, part.blocks[0], result);
    return part.blocks.size() > 1 ? block(file_name, part.blocks[1], result) : Status{};
  }

  Status loop(std::string_view file_name, const std::string& where, const Part& part, std::string& result) {
    KERF_TRY(const Value list, value_of(where, part.text));
    if (list.list() == nullptr) return bad(where, fmt::format("{} is not a list", part.text));
    const std::size_t count = list.list()->size();
    for (std::size_t i = 0; i < count; ++i) {
      const Value& item = (*list.list())[i];
      Value::Record fields = item.record() != nullptr ? *item.record() : Value::Record{{"text", item}};
      fields["index"] = std::to_string(i);
      fields["first"] = i == 0 ? "1" : "0";
      fields["last"] = i + 1 == count ? "1" : "0";
      variables_.emplace_back(part.name, std::move(fields));
      KERF_TRY_VOID(scope(file_name, part.blocks[0], result));
      variables_.pop_back();
    }
    return {};
  }

  Status include(const std::string& where, const Part& part, std::string& result) {
    if (!environment_.files) return bad(where, "nothing can be included here");
    auto text = environment_.files(part.text);
    if (!text) return bad(where, text.error().message);
    auto done = file(part.text, *text);
    if (!done) return fail(Errc::invalid_input, fmt::format("{} (included at {})", done.error().message, where));
    while (done->ends_with('\n')) done->pop_back();
    if (done->empty()) return {};
    const std::string margin(static_cast<std::size_t>(part.indent), ' ');
    for (const std::string& row : split(*done, '\n')) result += row.empty() ? "\n" : margin + row + "\n";
    return {};
  }

  /// The name at text[at], "$name" or "${name}", and where it ends; without fields.
  static std::optional<std::string_view> reference(std::string_view text, std::size_t& at) {
    if (text[at] != '$') return {};
    const bool braced = at + 1 < text.size() && text[at + 1] == '{';
    const std::size_t begin = at + (braced ? 2 : 1);
    if (begin >= text.size() || !starts_word(text[begin])) return {};
    const std::string_view name = word_at(text, begin);
    at = begin + name.size();
    return name;
  }

  /// The value of `name`, whose fields and closing brace follow at text[end].
  Result<Value> find(std::string_view where, std::string_view name, std::string_view text, std::size_t& end) {
    const bool braced = end > name.size() && text[end - name.size() - 1] == '{';
    std::optional<Value> value;
    const auto known =
        std::find_if(variables_.rbegin(), variables_.rend(), [&](const auto& v) { return v.first == name; });
    if (known != variables_.rend())
      value = known->second;
    else
      value = environment_.lookup(name);
    if (!value) return bad(where, fmt::format("nothing is known as ${}", name));
    while (value->record() != nullptr && end + 1 < text.size() && text[end] == '.' && starts_word(text[end + 1])) {
      const std::string_view field = word_at(text, end + 1);
      const auto found = value->record()->find(field);
      if (found == value->record()->end()) {
        std::vector<std::string> fields;
        for (const auto& [own, content] : *value->record()) fields.push_back(own);
        return bad(where, fmt::format("${} has no field '{}'{}; it has {}", name, field, did_you_mean(field, fields),
                                      join(fields, ", ")));
      }
      Value inner = found->second;
      value = std::move(inner);
      end += 1 + field.size();
    }
    if (braced) {
      if (end >= text.size() || text[end] != '}') return bad(where, fmt::format("'${{{}' has no closing brace", name));
      ++end;
    }
    return *std::move(value);
  }

  /// A text with values, or exactly one value, which may be a list or a record.
  Result<Value> value_of(const std::string& where, const std::string& text) {
    std::size_t end = 0;
    if (const auto name = text.empty() ? std::nullopt : reference(text, end)) {
      KERF_TRY(Value value, find(where, *name, text, end));
      if (end == text.size() && value.text() == nullptr) return value;
    }
    KERF_TRY(std::string done, line(where, text, 0));
    return Value(std::move(done));
  }

  /// "a && b || c" with terms "$FLAG", "!$FLAG", "$NAME == text", "$NAME != text"; "" is the empty text.
  Result<bool> holds(const std::string& where, std::string_view condition) {
    bool any = false;
    for (std::string_view left = condition; !left.empty();) {
      const std::size_t end = std::min(left.find("||"), left.size());
      KERF_TRY(const bool all, all_hold(where, left.substr(0, end)));
      any = any || all;
      left.remove_prefix(std::min(end + 2, left.size()));
    }
    return any;
  }
  Result<bool> all_hold(const std::string& where, std::string_view condition) {
    bool all = true;
    while (!condition.empty() && all) {  // what follows a term that does not hold need not be known
      const std::size_t end = std::min(condition.find("&&"), condition.size());
      KERF_TRY(all, term(where, trim(condition.substr(0, end))));
      condition.remove_prefix(std::min(end + 2, condition.size()));
    }
    return all;
  }
  Result<bool> term(const std::string& where, std::string_view text) {
    for (const std::string_view sign : {"==", "!="})
      if (const std::size_t at = text.find(sign); at != std::string_view::npos) {
        KERF_TRY(const std::string left, line(where, trim(text.substr(0, at)), 0));
        KERF_TRY(std::string right, line(where, trim(text.substr(at + 2)), 0));
        if (right == "\"\"") right.clear();
        return (left == right) == (sign == "==");
      }
    const bool negated = text.starts_with('!');
    if (negated) text = trim(text.substr(1));
    KERF_TRY(const Value value, value_of(where, std::string(text)));
    if (value.list() != nullptr) return value.list()->empty() == negated;
    if (value.text() == nullptr || (*value.text() != "0" && *value.text() != "1"))
      return bad(where,
                 fmt::format("'{}' is '{}', not 0 or 1", text, value.text() != nullptr ? *value.text() : "a record"));
    return (*value.text() == "1") != negated;
  }

  const Environment& environment_;
  std::vector<std::pair<std::string, Value>> variables_;  // of loops and lets; the last of a name counts
  int includes_ = 0;
};

}  // namespace

Result<std::string> expand(std::string_view file, std::string_view text, const Environment& environment) {
  KERF_TRY(std::string result, Writer(environment).file(file, text));
  while (result.ends_with("\n\n")) result.pop_back();
  return result;
}

Result<std::string> substitute(std::string_view where, std::string_view text, const Environment& environment) {
  return Writer(environment).line(where, text, 0);
}

Lookup lookup_in(std::map<std::string, std::string, std::less<>> values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<Value> {
    const auto found = values.find(name);
    if (found == values.end()) return {};
    return Value(found->second);
  };
}

std::string fill(std::string_view file, std::string_view text, const Record& values, Files files) {
  const Lookup lookup = [&values](std::string_view name) -> std::optional<Value> {
    const auto found = values.find(name);
    if (found == values.end()) return {};
    return found->second;
  };
  auto done = expand(file, text, {lookup, std::move(files)});
  if (!done) check_failed("fill", done.error().message.c_str(), __FILE__, __LINE__);
  return *std::move(done);
}

}  // namespace kerf::templates
