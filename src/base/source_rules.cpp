#include "base/source_rules.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/c_lexer.hpp"

namespace kerf {
namespace {

/// Time, place and purpose of the compilation.
constexpr std::array kForbiddenNames = {"__DATE__",
                                        "__TIME__",
                                        "__TIMESTAMP__",
                                        "__FILE__",
                                        "__FILE_NAME__",
                                        "__BASE_FILE__",
                                        "__LINE__",
                                        "__COUNTER__",
                                        "__INCLUDE_LEVEL__",
                                        "__has_include",
                                        "__has_include_next",
                                        "__has_embed",
                                        "__builtin_FILE",
                                        "__builtin_LINE",
                                        "source_location",
                                        "__OPTIMIZE__",
                                        "__OPTIMIZE_SIZE__",
                                        "__NO_INLINE__",
                                        "__PIC__",
                                        "__pic__",
                                        "__PIE__",
                                        "__pie__",
                                        "__SANITIZE_ADDRESS__",
                                        "__SANITIZE_THREAD__",
                                        "__FAST_MATH__",
                                        "__cl_clang_function_pointers"};

constexpr std::array kForbiddenPragmas = {"dependency", "include_alias", "push_macro",
                                          "pop_macro",  "poison",        "system_header"};

/// What compilers say about themselves and the processor, and limits of the standard headers.
constexpr std::array kKnownPrefixes = {
    "__AVX",     "__SSE",       "__FMA",        "__F16C",   "__BMI",  "__LZCNT", "__POPCNT",      "__ARM",
    "__aarch64", "__x86_64",    "__i386",       "__amd64",  "__GNUC", "__GNUG",  "__clang",       "__cplusplus",
    "__STDC",    "_OPENMP",     "__OPENCL",     "__CUDA",   "__NVCC", "__NV_",   "cl_",           "CL_",
    "__cpp_",    "__SIZEOF",    "__BYTE_ORDER", "__ORDER_", "__FLT",  "__DBL",   "__INT",         "__UINT",
    "FLT_",      "DBL_",        "INT",          "UINT",     "SHRT_",  "CHAR_",   "LONG_",         "M_",
    "FP_",       "__opencl_c_", "__ENDIAN",     "__linux",  "__unix", "__LP64",  "__IMAGE_",      "__kernel",
    "__GCC_",    "_MSC_VER",    "__INTEL",      "__VAES",   "__GFNI", "__AMX",   "__has_builtin", "__has_attribute"};
constexpr std::array kKnownNames = {"defined",
                                    "true",
                                    "false",
                                    "NULL",
                                    "NAN",
                                    "INFINITY",
                                    "HUGE_VALF",
                                    "HUGE_VAL",
                                    "SIZE_MAX",
                                    "MAXFLOAT",
                                    "__has_feature",
                                    "__has_extension",
                                    "__has_cpp_attribute",
                                    "__ADX__",
                                    "and",
                                    "or",
                                    "not"};

/// Macros of standard headers whose names are not reserved: whether they are there tells what was included before.
constexpr std::array kHeaderNames = {"assert",       "errno",         "EOF",        "BUFSIZ",
                                     "NDEBUG",       "RAND_MAX",      "WEOF",       "CLOCKS_PER_SEC",
                                     "stdin",        "stdout",        "stderr",     "FOPEN_MAX",
                                     "FILENAME_MAX", "TMP_MAX",       "NULL",       "offsetof",
                                     "setjmp",       "unix",          "linux",      "EXIT_SUCCESS",
                                     "EXIT_FAILURE", "SEEK_SET",      "SEEK_CUR",   "SEEK_END",
                                     "alloca",       "MB_CUR_MAX",    "MB_LEN_MAX", "TIME_UTC",
                                     "va_start",     "va_arg",        "va_end",     "math_errhandling",
                                     "FE_TONEAREST", "FE_ALL_EXCEPT", "PATH_MAX"};

/// Names that belong to compilers and their libraries.
bool is_reserved(std::string_view name) {
  if (name.find("__") != std::string_view::npos) return true;
  return name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z';
}

/// Header guards tell which headers were read; the compilers' own begin as the names of abilities do
/// (__AVX512FINTRIN_H, __CUDA_RUNTIME_H__).
bool is_header_guard(std::string_view name) {
  while (name.ends_with('_')) name.remove_suffix(1);
  constexpr std::array kEndings = {"_H", "_HPP", "_HH", "_INCLUDED", "_LOADED", "_defined", "_DEFINED"};
  return std::ranges::any_of(kEndings, [&](const char* ending) { return name.ends_with(ending); });
}

template <class List>
bool holds_word(const List& list, std::string_view word) {
  return std::ranges::any_of(list, [&](const auto& one) { return word == one; });
}

/// True when the name is made of identifiers of the source, one after the other: `__TI` and `ME__`.
bool can_be_pasted(std::string_view name, const std::set<std::string, std::less<>>& pieces) {
  std::vector<bool> reached(name.size() + 1, false);
  reached[0] = true;
  for (std::size_t begin = 0; begin < name.size(); ++begin) {
    if (!reached[begin]) continue;
    for (std::size_t size = 1; begin + size <= name.size(); ++size)
      if (pieces.count(name.substr(begin, size)) != 0) reached[begin + size] = true;
  }
  return reached[name.size()];
}

class SourceReading {
 public:
  SourceReading(std::string_view source, const SourceRules& rules)
      : rules_(rules), lines_(logical_lines(lex_c(source, {.trigraphs = rules.trigraphs}))) {}

  std::vector<std::string> influences() {
    for (const auto& line : lines_) collect(line);
    if (pastes_)
      for (const char* name : kForbiddenNames)
        if (can_be_pasted(name, pieces_)) found_.insert(name);
    for (const auto& line : lines_)
      if (starts_directive(line.front()) && line.size() > 1) directive(line);
    return {found_.begin(), found_.end()};
  }

 private:
  using Line = std::vector<CToken>;

  void collect(const Line& line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const CToken& token = line[i];
      // Tokens of one character each: "##" between others.
      if (token.is("#") && i + 1 < line.size() && line[i + 1].is("#")) pastes_ = true;
      if (token.kind == CTokenKind::identifier || token.kind == CTokenKind::number) pieces_.insert(token.text);
      if (token.kind == CTokenKind::identifier && holds_word(kForbiddenNames, token.text)) found_.insert(token.text);
      if (token.is("_Pragma") && i + 2 < line.size()) string_pragma(line[i + 2].text);
    }
    if (starts_directive(line.front()) && line.size() > 2 && line[1].is("define")) {
      const Line body = body_of({line.begin() + 3, line.end()});
      Line& all = macros_[line[2].text];
      all.insert(all.end(), body.begin(), body.end());
    }
  }

  /// Without the parameters of a macro that has some: what they stand for is written where it is used.
  static Line body_of(Line tokens) {
    if (tokens.empty() || !tokens[0].is("(") || tokens[0].after_blank) return tokens;
    std::set<std::string> parameters;
    std::size_t end = 0;
    while (end < tokens.size() && !tokens[end].is(")")) parameters.insert(tokens[end++].text);
    tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(std::min(end + 1, tokens.size())));
    std::erase_if(tokens, [&](const CToken& token) {
      return token.kind == CTokenKind::identifier && parameters.count(token.text) != 0;
    });
    return tokens;
  }

  void string_pragma(const std::string& text) {
    for (const char* word : kForbiddenPragmas)
      if (text.find(word) != std::string::npos) found_.insert(std::string("#pragma ") + word);
  }

  void directive(const Line& line) {
    const std::string& name = line[1].text;
    if (name == "include_next" || name == "import" || name == "embed" || name == "assert" || name == "unassert")
      found_.insert("#" + name);
    if (name == "include" && (line.size() < 3 || (!line[2].is("<") && line[2].kind != CTokenKind::string)))
      found_.insert("#include of a macro");
    if (name == "pragma")
      for (const CToken& token : line)
        if (holds_word(kForbiddenPragmas, token.text)) found_.insert("#pragma " + token.text);
    if (name == "if" || name == "elif" || name == "ifdef" || name == "ifndef" || name == "elifdef" ||
        name == "elifndef")
      condition({line.begin() + 2, line.end()});
  }

  // Identifiers of a condition, and of the macros of the source that it uses.
  void condition(const Line& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != CTokenKind::identifier) continue;
      const std::string& name = tokens[i].text;
      if (name.starts_with("__has_")) {  // what stands in its parentheses is no macro
        while (i + 1 < tokens.size() && !tokens[i].is(")")) ++i;
        continue;
      }
      if (const auto own = macros_.find(name); own != macros_.end() && followed_.insert(name).second)
        condition(own->second);
      if (!is_known(name)) found_.insert("#if on " + name);
    }
  }

  /// A name that is the source's own may be asked for, but defining a name of others does not make it its own.
  bool is_known(const std::string& name) const {
    if (holds_word(rules_.known_names, name)) return true;
    if (macros_.contains(name) && !is_reserved(name) && !holds_word(kHeaderNames, name)) return true;
    if (holds_word(kKnownNames, name)) return true;
    return !is_header_guard(name) &&
           std::ranges::any_of(kKnownPrefixes, [&](const char* p) { return name.starts_with(p); });
  }

  const SourceRules& rules_;
  std::vector<Line> lines_;
  bool pastes_ = false;
  std::set<std::string, std::less<>> pieces_;
  std::map<std::string, Line, std::less<>> macros_;  // all definitions of each, one after the other
  std::set<std::string> followed_, found_;
};

}  // namespace

bool is_header_macro(std::string_view name) {
  constexpr std::array kNames = {"NAN",         "INFINITY",  "HUGE_VAL",     "HUGE_VALF", "MAXFLOAT",  "FP_NAN",
                                 "FP_INFINITE", "FP_ZERO",   "FP_SUBNORMAL", "FP_NORMAL", "FP_ILOGB0", "FP_ILOGBNAN",
                                 "FP_FAST_FMA", "M_E",       "M_LOG2E",      "M_LOG10E",  "M_LN2",     "M_LN10",
                                 "M_PI",        "M_PI_2",    "M_PI_4",       "M_1_PI",    "M_2_PI",    "M_2_SQRTPI",
                                 "M_SQRT2",     "M_SQRT1_2", "FP_FAST_FMAF"};
  constexpr std::array kTypes = {"INT",  "UINT",  "CHAR",  "SCHAR",  "UCHAR",   "SHRT", "USHRT",
                                 "LONG", "ULONG", "LLONG", "ULLONG", "PTRDIFF", "SIZE", "WCHAR"};
  constexpr std::array kLimits = {"_MAX", "_MIN", "_BIT", "_WIDTH", "_C"};
  const auto limit = std::ranges::find_if(kLimits, [&](const char* one) { return name.ends_with(one); });
  if (limit != kLimits.end() &&
      std::ranges::any_of(kTypes, [&](const char* type) {  // INT_MAX, UINT64_MAX, INTMAX_C, but not INTER_MAX
        std::string_view rest = name.substr(0, name.size() - std::string_view(*limit).size());
        if (!rest.starts_with(type)) return false;
        rest.remove_prefix(std::string_view(type).size());
        return rest.empty() || rest == "MAX" || rest == "PTR" || rest.find_first_not_of("0123456789") == rest.npos;
      }))
    return true;
  const bool of_floats = name.starts_with("FLT_") || name.starts_with("DBL_") || name.starts_with("LDBL_");
  return of_floats || holds_word(kHeaderNames, name) || holds_word(kNames, name);
}

std::vector<std::string> outside_influences(std::string_view source, const SourceRules& rules) {
  return SourceReading(source, rules).influences();
}

}  // namespace kerf
