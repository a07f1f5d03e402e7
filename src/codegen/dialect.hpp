#pragma once
// Everything that differs between the languages naive code is generated in. A language brings its own in one file;
// those of this room are in dialects/.

#include <string>
#include <string_view>

#include "ir/dtype.hpp"

namespace kerf::codegen {

struct DialectTraits {
  std::string_view language;            ///< Language::name(), also in manifests under kernels/: "cuda_cpp"
  std::string_view layer;               ///< file under kernels/ that defines the KERF_ names in it
  std::string_view features;            ///< what kernels in it may use unless the device lacks it: " sub_groups "
  bool host_entry = false;              ///< one kerf_kernel that calls plain loops, instead of `launch:` lines
  bool accepts_cpp_references = false;  ///< a task's reference that is given as C++ compiles in it
  std::string_view prologue;            ///< after the header: includes
  std::string_view f64_prologue;        ///< additionally, when doubles occur
  std::string_view kernel_prefix;       ///< before a kernel's name
  std::string_view function_prefix;     ///< before a helper function's return type
  std::string_view pointer_prefix;      ///< before the type of a buffer parameter
  std::string_view work_item;           ///< global index of the work item; empty when the kernel loops itself
  std::string_view group_index{};       ///< of the work-group; empty: kernels of work-groups are not written in it
  std::string_view local_index{};       ///< of the work item in its group, an int
  std::string_view shared_prefix{};     ///< before an array that a group shares
  std::string_view barrier{};           ///< all work items of a group meet here
  std::string_view i64;                 ///< spelling of a 64-bit integer type
  std::string_view i64_suffix;          ///< of its literals
  std::string_view math_namespace;      ///< before math functions
  std::string_view fast_functions;  ///< single-precision functions that have a faster form kerf_fast_NAME: " exp log "
  bool math_suffix = false;         ///< single-precision functions end in 'f'
  std::string_view native_functions{};  ///< beside those of C that operators name as native: " rsqrt "
  std::string_view infinity[2];         ///< as f32, f64
  std::string_view nan[2];              ///< as f32, f64
  std::string_view bit_helpers;         ///< kerf_float_bits, kerf_bits_float, kerf_double_bits, kerf_bits_double
  std::string_view f16_helpers;         ///< kerf_load_f16(pointer, index), kerf_store_f16(pointer, index, float)
};

/// Whether a list such as `fast_functions`, with a space on either side of each word, has this one.
bool has_word(std::string_view words, std::string_view word);

/// Type of one element in a buffer: "unsigned short" for f16.
std::string memory_type(const DialectTraits& dialect, DType dtype);

/// "expf(", "std::exp(", "exp(" without the parenthesis. `type` is f32 or f64.
std::string math_function(const DialectTraits& dialect, std::string_view name, DType type);

/// A literal of `type` (f32, f64 or i64) that reads back as exactly `value` rounded to that type.
std::string literal(const DialectTraits& dialect, double value, DType type);

}  // namespace kerf::codegen
