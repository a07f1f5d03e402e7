#pragma once
// The kernels of one group as text, with marks where its number and its buffers go: groups of one structure differ in
// these only, and the text of a composition is put together from sections that were written before.

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "propose/synth/catalogue.hpp"
#include "propose/synth/group_view.hpp"

namespace kerf::synth {

/// What the renderer and the legality checks share about the target's language.
struct OutputLanguage {
  codegen::DialectTraits dialect;
  codegen::NaiveOptions options;
  std::vector<std::string> headers;  ///< the dialect layer's files under kernels/, in order
  std::set<std::string> taken;       ///< the task's names: symbols, inputs, outputs
};

/// Marks for the group's prefix ("g0", "G0") and, with the number of the buffer and "__" behind it, for buffers.
inline constexpr std::string_view kPrefixMark = "kerf_group__", kCapitalMark = "KERF_GROUP__";
inline constexpr std::string_view kPlaceHolder = "kerf_buffer_";
std::string place_holder(std::size_t buffer);

/// What a launch passes: a buffer of the group's view, or scratch memory of the group's own.
struct Argument {
  int buffer = -1;
  std::string scratch;
};

/// All texts are with marks; buffers are numbered as in the group's view.
struct Section {
  std::string code;
  std::vector<std::string> requirements, scratch;                 ///< header lines
  std::vector<std::string> launches;                              ///< with kArgumentsMark for the arguments
  std::vector<std::vector<Argument>> arguments;                   ///< of each launch
  std::vector<std::pair<DType, std::string>> scratch_parameters;  ///< type, name; for the C++ entry point
  codegen::Uses uses;
};

/// The group as a variant computes it. Depends on the structure of the group and the names of its buffers only.
Result<Section> write_section(GroupView view, const Family& family, const Variant& variant,
                              const TargetContext& context, const OutputLanguage& language);

/// The same without what takes long, to see whether it can be written: the code is not put in order, launches pass all
/// buffers, and scratch may be among it that the code does not use.
Result<Section> outline_section(GroupView view, const Family& family, const Variant& variant,
                                const TargetContext& context, const OutputLanguage& language);

/// `text` with marks replaced: by the prefix, and by the names of buffers.
std::string filled(std::string_view text, std::string_view prefix, const std::vector<std::string>& buffers);

/// Safe to multiply with; a plain name or number stays as it is.
std::string bracketed(const std::string& text);

}  // namespace kerf::synth
