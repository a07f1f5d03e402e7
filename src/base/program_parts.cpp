#include "base/program_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>

#include "base/c_lexer.hpp"

namespace kerf {
namespace {

/// Fewer kernels than this are not worth parsing all else twice.
constexpr std::size_t kLeastKernels = 12;
constexpr std::size_t kKernelsPerPart = 6;
constexpr std::size_t kMostParts = 16;

/// Unrolls loops and does nothing else: `words` of a directive behind "pragma", or of a string.
bool only_unrolls(std::string_view words) {
  const std::size_t begin = words.find_first_not_of(" \t\"");
  return begin != std::string_view::npos && words.substr(begin).starts_with("unroll");
}

/// Whether a definition may mean something to those behind it: counters, macros that are pasted together or changed by
/// pragmas, friends that come into being where a template is used. Without these, and without directives of its own
/// that define or include anything, a kernel can be left out and the others are what they were.
bool tells_others(const std::vector<CToken>& tokens) {
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const auto behind = [&](std::size_t n) {
      return t + n < tokens.size() ? std::string_view(tokens[t + n].text) : "";
    };
    const CToken& token = tokens[t];
    if (token.is("friend") || token.is("__COUNTER__") || (token.is("#") && behind(1) == "#")) return true;
    if (token.is("_Pragma") && !(behind(1) == "(" && only_unrolls(behind(2)))) return true;
    if (starts_directive(token) && behind(1) == "pragma" && !only_unrolls(behind(2))) return true;
  }
  return false;
}

bool is_harmless_directive(std::string_view name) {
  constexpr std::string_view kHarmless[] = {"pragma", "if", "ifdef", "ifndef", "elif", "else", "endif"};
  return std::ranges::find(kHarmless, name) != std::end(kHarmless);
}

/// Macros whose text begins kernels: "#define KERF_KERNEL extern "C" __global__ void" has __global__ in it.
std::set<std::string> kernel_words(const std::vector<CToken>& tokens) {
  std::set<std::string> words{"__global__"};
  for (const auto& line : logical_lines(tokens)) {
    if (line.size() < 4 || !starts_directive(line[0]) || !line[1].is("define")) continue;
    const auto is_known = [&](const CToken& token) { return words.contains(token.text); };
    if (std::any_of(line.begin() + 3, line.end(), is_known)) words.insert(line[2].text);
  }
  return words;
}

/// The definition that `tokens` hold from `begin` to their end: its name, where it is a function with a body.
std::string defined_name(const std::vector<const CToken*>& tokens) {
  int depth = 0;
  std::size_t open = 0;  // of the parentheses that stand before the body
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i]->is("(") && depth++ == 0) open = i;
    if (tokens[i]->is(")")) --depth;
    if (tokens[i]->is("{") && depth == 0)
      return open > 0 && tokens[i - 1]->is(")") && tokens[open - 1]->kind == CTokenKind::identifier
                 ? tokens[open - 1]->text
                 : "";
  }
  return "";
}

/// Kernels defined at the top level, by name; a name that is defined twice has two ranges.
std::map<std::string, std::vector<SourceRange>> kernel_definitions(const std::vector<CToken>& tokens) {
  const auto words = kernel_words(tokens);
  std::map<std::string, std::vector<SourceRange>> found;
  std::vector<const CToken*> declaration;
  bool directive = false, is_kernel = false;
  int depth = 0;
  bool changes_macros = false;  // the declaration does
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const CToken& token = tokens[t];
    if (token.first) directive = starts_directive(token);
    if (directive && token.first && !declaration.empty() && t + 1 < tokens.size() &&
        !is_harmless_directive(tokens[t + 1].text))
      changes_macros = true;
    if (directive) continue;
    declaration.push_back(&token);
    is_kernel = is_kernel || (depth == 0 && words.contains(token.text));
    if (token.is("{")) ++depth;
    if (token.is("}")) --depth;
    const bool ends = depth == 0 && (token.is(";") || token.is("}"));
    if (!ends) continue;
    if (is_kernel && token.is("}") && !changes_macros)
      if (const std::string name = defined_name(declaration); !name.empty())
        found[name].push_back({declaration.front()->begin, token.end});
    declaration.clear();
    is_kernel = changes_macros = false;
  }
  return found;
}

}  // namespace

std::vector<std::vector<SourceRange>> program_parts(std::string_view source, const std::vector<std::string>& kernels) {
  const std::set<std::string> names(kernels.begin(), kernels.end());
  if (names.size() < kLeastKernels) return {};
  const auto tokens = lex_c(source);
  if (tells_others(tokens)) return {};
  const auto defined = kernel_definitions(tokens);
  std::vector<SourceRange> ranges;
  for (const auto& name : names) {
    const auto found = defined.find(name);
    if (found == defined.end() || found->second.size() != 1) return {};
    ranges.push_back(found->second.front());
  }
  // The longest first, each to the part that has least so far.
  const auto length = [](const SourceRange& range) { return range.end - range.begin; };
  std::ranges::sort(ranges, {}, [](const SourceRange& range) { return range.begin; });
  std::ranges::stable_sort(ranges, std::ranges::greater{}, length);
  const std::size_t count = std::min(kMostParts, names.size() / kKernelsPerPart);
  std::vector<std::size_t> lengths(count, 0);
  std::vector<std::vector<SourceRange>> parts(count);
  for (const SourceRange& range : ranges) {
    const auto least =
        static_cast<std::size_t>(std::distance(lengths.begin(), std::min_element(lengths.begin(), lengths.end())));
    lengths[least] += length(range);
    for (std::size_t part = 0; part < count; ++part)
      if (part != least) parts[part].push_back(range);
  }
  for (auto& part : parts) std::ranges::sort(part, {}, &SourceRange::begin);
  return parts;
}

std::string without(std::string_view source, const std::vector<SourceRange>& ranges) {
  std::string text(source);
  for (const SourceRange& range : ranges)
    std::replace_if(
        text.begin() + static_cast<std::ptrdiff_t>(range.begin), text.begin() + static_cast<std::ptrdiff_t>(range.end),
        [](char c) { return c != '\n'; }, ' ');
  return text;
}

}  // namespace kerf
