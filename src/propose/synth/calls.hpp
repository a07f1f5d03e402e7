#pragma once
// Functions of a written kernel take the buffers they use and no others; names of buffers clash with nothing.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/c_lexer.hpp"

namespace kerf::synth {

/// Stand for the buffers in the parameters of a function and in the arguments of a call, until it is known which of
/// them the function needs.
inline constexpr std::string_view kParametersMark = "kerf_parameters__";
inline constexpr std::string_view kArgumentsMark = "kerf_arguments__";

/// A buffer that functions may take.
struct BufferParameter {
  std::string name;         ///< in the code; a word that occurs as nothing else
  std::string declaration;  ///< with type and name
};

/// Replaces the marks in `code`, a sequence of function definitions, macros and declarations.
class CallResolver {
 public:
  CallResolver(std::string code, std::vector<BufferParameter> buffers);

  /// The code with parameters and arguments in place of the marks.
  std::string resolved() const;
  /// Which buffers `function` takes, by their position; all of them when it is not defined here.
  std::vector<std::size_t> needs(const std::string& function) const;

 private:
  struct Definition {
    std::string name;
    std::set<std::size_t> needs;
    std::set<std::string> uses;  ///< words of its body
  };
  void find_definitions();
  std::string list_for(const std::string& function, bool declarations) const;

  std::string code_;
  std::vector<CToken> tokens_;
  std::vector<BufferParameter> buffers_;
  std::vector<Definition> definitions_;
};

/// Identifiers of C code; not those in comments and strings, and not those after '.' and '->'.
std::set<std::string> identifiers(std::string_view code);

/// The identifiers of each function of `code`, with those of the macros it uses.
std::vector<std::set<std::string>> identifiers_by_function(std::string_view code);

/// `code` with every identifier that is `from` replaced by `to`.
std::string with_identifier(std::string_view code, std::string_view from, std::string_view to);
/// The same for many at once: from -> to.
std::string with_identifiers(std::string_view code, const std::map<std::string, std::string, std::less<>>& names);

/// `code` with its long lines broken after commas in brackets.
std::string wrapped(std::string_view code);

}  // namespace kerf::synth
