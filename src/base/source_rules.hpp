#pragma once
// What the text of a kernel may depend on beside itself. The source that is judged is the source that is exported, so
// it must mean the same wherever it is compiled: it may ask what the compiler and the processor can do, and nothing
// that differs between the judge's folder and the user's.

#include <string>
#include <string_view>
#include <vector>

namespace kerf {

struct SourceRules {
  bool trigraphs = false;                ///< the compiler reads them (CLexOptions::trigraphs)
  std::vector<std::string> known_names;  ///< macros or constants that the judge defines and an export too
};

/// What a kernel's source uses that depends on when, where or by whom it is compiled, each once, in words: "__TIME__",
/// "#include_next", "#if on KERF_EXPORT". Names that are pasted together (##) from pieces of the source count too.
std::vector<std::string> outside_influences(std::string_view source, const SourceRules& rules);

/// Whether standard headers define a macro of this name (INT_MAX, M_PI, NAN), so that nothing else can have it.
bool is_header_macro(std::string_view name);

}  // namespace kerf
