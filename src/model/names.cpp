#include "model/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/math_functions.hpp"
#include "base/source_rules.hpp"
#include "base/text.hpp"

namespace kerf {
namespace {

constexpr std::size_t kMaxNameLength = 64;

// Words no generated declaration may use. "default" is here too: it is a fine name for a shape set, not for a buffer.
constexpr auto kReserved = std::to_array<std::string_view>({
    "NULL",
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_Bool",
    "_Complex",
    "_Generic",
    "_Imaginary",
    "_Noreturn",
    "_Static_assert",
    "_Thread_local",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "blockDim",
    "blockIdx",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "complex",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "constant",
    "continue",
    "decltype",
    "default",
    "defined",
    "delete",
    "dim3",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "errno",
    "event_t",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "generic",
    "global",
    "goto",
    "gridDim",
    "half",
    "if",
    "imaginary",
    "inline",
    "int",
    "kerf",
    "kernel",
    "linux",
    "local",
    "long",
    "main",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "pipe",
    "private",
    "protected",
    "ptrdiff_t",
    "public",
    "quad",
    "read_only",
    "read_write",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "sampler_t",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "std",
    "struct",
    "switch",
    "template",
    "this",
    "threadIdx",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "uchar",
    "uint",
    "uintptr_t",
    "ulong",
    "uniform",
    "union",
    "unix",
    "unsigned",
    "ushort",
    "using",
    "vec_step",
    "virtual",
    "void",
    "volatile",
    "warpSize",
    "wchar_t",
    "while",
    "write_only",
    "xor",
    "xor_eq",
});

// OpenCL C and CUDA vector types: float4, uchar16, image2d_t, ...
bool is_vector_type(std::string_view word) {
  if (word.starts_with("image") && word.ends_with("_t")) return true;  // image2d_t, image1d_buffer_t
  const auto digits = word.find_first_of("0123456789");
  if (digits == std::string_view::npos) return false;
  constexpr auto kBases = std::to_array<std::string_view>({"char", "double", "float", "half", "int", "long", "longlong",
                                                           "short", "uchar", "uint", "ulong", "ulonglong", "ushort"});
  constexpr auto kWidths = std::to_array<std::string_view>({"1", "16", "2", "3", "4", "8"});
  return std::find(kBases.begin(), kBases.end(), word.substr(0, digits)) != kBases.end() &&
         std::find(kWidths.begin(), kWidths.end(), word.substr(digits)) != kWidths.end();
}

// Functions and types that C headers declare in the global namespace: a constant of that name does not compile beside
// them, and a shape symbol is one. Parameters may have these names.
bool is_declared_by_headers(std::string_view word) {
  constexpr auto kDeclared = std::to_array<std::string_view>(
      {"abort",  "abs",     "atexit",  "atof",   "atoi",   "bcmp",    "bcopy",       "bsearch", "bzero",  "calloc",
       "clock",  "div",     "drem",    "exit",   "ffs",    "free",    "gamma",       "getenv",  "index",  "labs",
       "ldiv",   "lrand48", "malloc",  "memchr", "memcmp", "memcpy",  "memmove",     "memset",  "mktemp", "qsort",
       "rand",   "random",  "realloc", "rindex", "setenv", "signgam", "significand", "srand",   "stpcpy", "strcat",
       "strchr", "strcmp",  "strcpy",  "strdup", "strlen", "strncmp", "strncpy",     "strsep",  "strstr", "strtod",
       "strtok", "strtol",  "system",  "time",   "wait"});
  if (is_math_function(word) || std::find(kDeclared.begin(), kDeclared.end(), word) != kDeclared.end()) return true;
  constexpr auto kTypes = std::to_array<std::string_view>(
      {"size_t", "ssize_t", "ptrdiff_t", "wchar_t", "nullptr_t", "time_t", "clock_t", "div_t", "ldiv_t", "off_t",
       "pid_t", "u_int", "u_char", "u_long", "u_short", "caddr_t", "max_align_t"});
  const bool sized = word.ends_with("_t") && (word.starts_with("int") || word.starts_with("uint"));  // uint8_t
  return sized || word.starts_with("omp_") || std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end();
}

// Functions of OpenCL C that the kernels we write call: a constant of that name, macro or enumerator, breaks them all.
bool is_needed_function(std::string_view word) {
  constexpr auto kFunctions = std::to_array<std::string_view>(
      {"barrier", "get_enqueued_local_size", "get_global_id", "get_global_linear_id", "get_global_offset",
       "get_global_size", "get_group_id", "get_local_id", "get_local_linear_id", "get_local_size", "get_num_groups",
       "get_work_dim", "mem_fence", "read_mem_fence", "work_group_barrier", "write_mem_fence"});
  constexpr auto kTypes = std::to_array<std::string_view>(
      {"char", "double", "float", "half", "int", "long", "short", "uchar", "uint", "ulong", "ushort"});
  if (std::find(kFunctions.begin(), kFunctions.end(), word) != kFunctions.end()) return true;
  if (word.starts_with("vload") || word.starts_with("vstore")) return true;
  for (const std::string_view prefix : {"as_", "convert_"})
    if (word.starts_with(prefix))
      for (const std::string_view type : kTypes)
        if (word.substr(prefix.size()).starts_with(type)) return true;
  return false;
}

}  // namespace

bool is_reserved_word(std::string_view word) {
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end() || is_vector_type(word);
}

Status check_symbol(std::string_view what, std::string_view name) {
  KERF_TRY_VOID(check_name(what, name));
  if (is_declared_by_headers(name))
    return fail(Errc::invalid_input,
                fmt::format("{} '{}' is a name that the C library's headers declare, and kernels are "
                            "compiled with its value as a constant; choose another name",
                            what, name));
  return {};
}

Status check_name(std::string_view what, std::string_view name) {
  if (!is_identifier(name))
    return fail(Errc::invalid_input,
                fmt::format("{} '{}' is not a name: use letters, digits and '_', not starting with a digit", what,
                            name.substr(0, kMaxNameLength)));
  if (name.size() > kMaxNameLength)
    return fail(Errc::invalid_input, fmt::format("{} '{}...' is longer than {} characters", what,
                                                 name.substr(0, kMaxNameLength / 2), kMaxNameLength));
  if (is_reserved_word(name))
    return fail(Errc::invalid_input,
                fmt::format("{} '{}' is a reserved word of C++, CUDA or OpenCL C; choose another name", what, name));
  if (is_header_macro(name))
    return fail(Errc::invalid_input,
                fmt::format("{} '{}' is a macro of the standard headers; choose another name", what, name));
  if (is_needed_function(name))
    return fail(Errc::invalid_input,
                fmt::format("{} '{}' is a function of OpenCL C that kernels need; choose another name", what, name));
  if (name.starts_with("__") ||
      (name[0] == '_' && name.size() > 1 && std::isupper(static_cast<unsigned char>(name[1]))) ||
      name.starts_with("kerf_"))
    return fail(
        Errc::invalid_input,
        fmt::format("{} '{}' starts with a prefix that compilers or kerf reserve; choose another name", what, name));
  return {};
}

}  // namespace kerf
