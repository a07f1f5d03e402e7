#pragma once
// A CUDA program of many kernels as several programs that define some of them each. Compilers take as long as all
// kernels together; the parts can be compiled side by side. A kernel's code is the same in a part as in the whole.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kerf {

/// Bytes [begin, end) of a source text.
struct SourceRange {
  std::size_t begin = 0, end = 0;
};

/// For each part what it leaves out of `source`, in rising order: the definitions of all of `kernels` that are another
/// part's. Parts have about as much text of their own each, and depend on nothing but the arguments. Empty where
/// `kernels` are too few to be worth it, where one of them is not defined exactly once at the top level of the text
/// (in a namespace, by a macro, in an included file), and where a kernel might mean something to others: what is judged
/// is what the whole text says.
std::vector<std::vector<SourceRange>> program_parts(std::string_view source, const std::vector<std::string>& kernels);

/// `source` with blanks for these ranges; lines keep their numbers.
std::string without(std::string_view source, const std::vector<SourceRange>& ranges);

}  // namespace kerf
