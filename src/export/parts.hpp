#pragma once
// Pieces of text that every export is put together from. Names that begin with kerf_ are ours: tasks may not use them.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/template.hpp"
#include "codegen/naive.hpp"
#include "export/export.hpp"

namespace kerf::exporting {

/// One certified shape set with everything that is constant in it.
struct Instance {
  std::string name;  ///< the set's
  std::string id;    ///< the same as part of an identifier
  Bindings symbols;
  Bindings tunables;
  Bindings constants() const;
};
std::vector<Instance> instances_of(const Winner& winner);

std::vector<std::string> symbol_names(const Task& task);  ///< in the order in which the task's buffers name them
std::string c_type(DType dtype);                          ///< "float", "unsigned short" for f16, ...
std::string identifier(std::string_view text);            ///< other characters become '_'
std::string upper(std::string_view text);

/// "long long rows, long long cols" and "rows, cols".
std::string symbol_parameters(const Task& task);
std::string symbol_arguments(const Task& task);

/// How a caller names a shape: the struct rmsnorm_shape with a member per symbol. All empty for a task without symbols.
struct ShapeText {
  std::string definition;  ///< "typedef struct rmsnorm_shape { ... } rmsnorm_shape;" with what it is for
  std::string parameter;   ///< "rmsnorm_shape kerf_shape"
  std::string argument;    ///< "kerf_shape"
  std::string members;     ///< "kerf_shape.rows, kerf_shape.cols"
  std::string unpack;      ///< statements that make the symbols variables
};
ShapeText shape_text(const Winner& winner);
/// `a` and `b` with a comma between them where both have text.
std::string listed(const std::string& a, const std::string& b);
/// A value of the shape struct: "rmsnorm_shape{96, 1024}".
std::string shape_value(const Winner& winner, const Instance& instance);
/// "rows == 96 && cols == 1024"; "1" for a task without symbols.
std::string same_shape(const Instance& instance);
/// A C string literal, one line of it per line of text.
std::string string_literal(std::string_view text, std::string_view indent);
/// Each line of the text as a C string literal with a comma behind it: elements of an array, which have no limit.
std::string string_elements(std::string_view text, std::string_view indent);
/// `code`, in which compilers are to warn of nothing: kernels are written for speed, not for every warning.
std::string without_warnings(std::string_view code);
/// "static constexpr int rows = 96;" lines.
std::string constant_definitions(const Bindings& constants);
/// Bytes of a tensor as a C expression over the symbols (and tunables, for scratch).
std::string bytes_expression(const ir::TensorType& tensor);
/// Those of every scratch buffer, and a 0, because an array is never empty.
std::string scratch_sizes(const std::vector<ir::TensorType>& scratch);
/// "#undef NAME" lines.
std::string undone(const std::vector<std::string>& macros);

/// A naive kernel whose shape symbols are run-time parameters.
struct RuntimeNaive {
  std::string includes;  ///< `#include` lines
  std::string code;      ///< C++: `entry`, with symbols, then inputs, outputs, scratch. CUDA: kernels, symbols first
  LaunchPlan plan;
};
/// For C++ (`entry` is the name of its one function, loops run on all cores) or CUDA.
Result<RuntimeNaive> runtime_naive(const Task& task, const codegen::DialectTraits& dialect, DType compute,
                                   bool compute_outputs, const std::string& entry);

/// `text` between `#include <...>` lines moved out and macros undone at the end, so that it can stand in a namespace
/// several times.
struct Repeatable {
  std::vector<std::string> includes;
  std::string code;
  std::vector<std::string> macros;
};
Repeatable make_repeatable(std::string_view source);

/// A text among the templates that has nothing to fill in.
std::string template_file(std::string_view name);
/// The template of that name, filled in; it may include others.
std::string filled(std::string_view name, const templates::Record& values);
std::string filled(std::string_view name, std::initializer_list<std::pair<std::string_view, std::string>> values);

/// What templates of every language may name: NAME, UPPER, BANNER, the SHAPE words, UNPACK, REFUSALS, PARAMETERS, SETS
/// (a list with name, id and condition) and others.
templates::Record common_values(const Winner& winner);

}  // namespace kerf::exporting
