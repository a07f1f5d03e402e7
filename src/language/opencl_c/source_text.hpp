#pragma once
// What is done to OpenCL C as text: the constants put before it, words that are refused in it, and the driver's log
// made readable. No OpenCL is needed for any of it.

#include <string>
#include <string_view>
#include <vector>

#include "ir/dim.hpp"

namespace kerf::opencl {

inline constexpr std::string_view kSourceName = "kernel.cl";  ///< what diagnostics call the candidate

/// The candidate with its constants before it, numbered so that diagnostics show the candidate's own lines. Constants
/// are enumerators, so that parameters and locals may hide them. Names that OpenCL uses for built-in functions, which
/// drivers make macros themselves, stand for enumerators of another name and can be hidden like others. Values beyond
/// int are macros.
std::string with_constants(std::string_view source, const Bindings& constants);

/// Constructs that no candidate may use, as far as the text shows them: inline assembly, printf, files included from
/// disk.
std::vector<std::string> forbidden_words(std::string_view source);

/// A driver's log for people: without temporary paths and drivers' summaries, each diagnostic followed by its source
/// line and a caret where the driver does not show them, cut after 16 KiB.
/// Drivers that ignore `#line` (and so the name it gives) count `lines_before` lines too many.
std::string readable_log(std::string_view log, std::string_view source, std::size_t lines_before = 0);

}  // namespace kerf::opencl
