#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/math_functions.hpp"
#include "language/cpp/elf_facts.hpp"

namespace kerf::cpp {
namespace {

constexpr std::string_view kExact[] = {
    // memory
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "memchr",
    "bcmp",
    "strlen",
    "malloc",
    "calloc",
    "realloc",
    "free",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "__memcpy_chk",
    "__memmove_chk",
    "__memset_chk",
    // ends the process, which is a crash; bounds and stack checks
    "abort",
    "__assert_fail",
    "__stack_chk_fail",
    "__chk_fail",
    "__cxa_throw_bad_array_new_length",
    // thread-local storage, exceptions and start-up code of the compiler
    "__tls_get_addr",
    "__cxa_finalize",
    "__gmon_start__",
    "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable",
    "__gxx_personality_v0",
    "__cxa_begin_catch",
    "__cxa_end_catch",
    "__cxa_rethrow",
    "__cxa_allocate_exception",
    "__cxa_free_exception",
    "__cxa_throw",
    "__cxa_guard_acquire",
    "__cxa_guard_release",
    "__cxa_guard_abort",
    "__cxa_pure_virtual",
    "__cxa_bad_cast",
    "__dynamic_cast",
    "_Unwind_Resume",
    "__clang_call_terminate",
    "_ZSt9terminatev",
    "__cxa_get_exception_ptr",
    "__cxa_deleted_virtual",
    "__cxa_call_unexpected",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_mutex_trylock",
    "qsort",
    "rand_r",
};

constexpr std::string_view kPrefixes[] = {
    "GOMP_",
    "omp_",
    "__kmpc_",
    "__kmp",  // OpenMP of gcc and clang
    "_ZGV",   // vector functions of libmvec
    "_Znw",
    "_Zna",
    "_Zdl",
    "_Zda",  // operator new and delete
    "_ZSt20__throw",
    "_ZSt17__throw",
    "_ZSt19__throw",
    "_ZSt16__throw",
    "_ZSt21__throw",
    "_ZSt22__throw",
    "_ZSt23__throw",
    "_ZSt24__throw",
    "_ZSt25__throw",
    "_ZSt28__throw",
    "_ZTVN10__cxxabiv1",
    "_ZTISt",
    "_ZTSSt",
    "_ZTVSt",
    "_ZNSt9exception",
    "_ZNSt9bad_alloc",
    "_ZNKSt9exception",
    "_ZSt18_Rb_tree",
    "_ZSt28_Rb_tree",
    "_ZSt29_Rb_tree",
    "_ZNSt8__detail",
    "_ZNKSt8__detail",  // bodies of containers
    "_ZSt7nothrow",
    "_ZTI",  // type information of what is thrown
    "_ZTS",
    "_ZNSt13runtime_error",
    "_ZNSt11logic_error",
    "_ZNSt16invalid_argument",
    "_ZNSt12out_of_range",
    "_ZNSt12length_error",
    "_ZNSt12domain_error",
    "_ZNSt11range_error",
    "_ZNSt14overflow_error",
    "_ZNSt15underflow_error",
    "_ZNKSt13runtime_error",
    "_ZNKSt11logic_error",
    "_ZNSt20bad_array_new_length",
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcE",
    "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcE",
};

// Helpers of the compiler for types the processor lacks, and internals of libm: __addtf3, __extendhfsf2, __expf_finite.
bool is_compiler_helper(std::string_view symbol) {
  if (!symbol.starts_with("__")) return false;
  for (const std::string_view end :
       {"hf2",  "sf2",  "df2",  "tf2",  "xf2",     "bf2",  "tf3",  "ti3",  "sf3",  "df3",  "di2",
        "ti2",  "sc3",  "dc3",  "xc3",  "tc3",     "hc3",  "hfsi", "sfti", "dfti", "tfsi", "tfdi",
        "sitf", "ditf", "tisf", "tidf", "_finite", "hfdi", "sihf", "dihf", "tihf", "hfti"}) {
    if (symbol.ends_with(end)) return true;
  }
  return symbol == "__signbit" || symbol == "__signbitf" || symbol == "__isnan" || symbol == "__isinf" ||
         symbol == "__fpclassify" || symbol == "__fpclassifyf" || symbol == "__cpu_indicator_init" ||
         symbol == "__cpu_model";
}

/// Inside of an allowed family, but a clock, a name of the process or machine, a text that the library keeps, or
/// output.
bool is_excepted(std::string_view symbol) {
  return symbol == "omp_get_wtime" || symbol == "omp_get_wtick" || symbol == "omp_control_tool" ||
         symbol == "omp_display_env" || symbol.starts_with("omp_pause_resource") ||
         (symbol.starts_with("omp_") && symbol.find("_affinity") != std::string_view::npos);
}

}  // namespace

bool import_is_allowed(std::string_view symbol) {
  if (is_excepted(symbol)) return false;
  if (std::ranges::find(kExact, symbol) != std::end(kExact) || is_math_function(symbol) || is_compiler_helper(symbol))
    return true;
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return symbol.starts_with(prefix); });
}

}  // namespace kerf::cpp
