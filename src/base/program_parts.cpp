#include "base/program_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "base/c_lexer.hpp"

namespace kerf {
namespace {

/// Fewer kernels than this are not worth parsing all else twice.
constexpr std::size_t kLeastKernels = 12;
constexpr std::size_t kKernelsPerPart = 6;
constexpr std::size_t kMostParts = 16;

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
  for (const CToken& token : tokens) {
    if (token.first) directive = starts_directive(token);
    if (directive) continue;
    declaration.push_back(&token);
    is_kernel = is_kernel || (depth == 0 && words.contains(token.text));
    if (token.is("{")) ++depth;
    if (token.is("}")) --depth;
    const bool ends = depth == 0 && (token.is(";") || token.is("}"));
    if (!ends) continue;
    if (is_kernel && token.is("}"))
      if (const std::string name = defined_name(declaration); !name.empty())
        found[name].push_back({declaration.front()->begin, token.end});
    declaration.clear();
    is_kernel = false;
  }
  return found;
}

}  // namespace

std::vector<std::vector<SourceRange>> program_parts(std::string_view source, const std::vector<std::string>& kernels) {
  const std::set<std::string> names(kernels.begin(), kernels.end());
  if (names.size() < kLeastKernels) return {};
  const auto defined = kernel_definitions(lex_c(source));
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
