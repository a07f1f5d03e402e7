#pragma once
// The text of an expression and the rendering of errors in it.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kerf::ir {

/// Borrowed text; positions are byte offsets into it.
class Source {
 public:
  explicit Source(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  /// "line 2, column 9: message", the source line and a caret. Bytes outside ASCII are shown as '?', so that the caret
  /// stands right and the message is valid text whatever the source holds.
  tl::unexpected<Error> error(std::size_t at, const std::string& message) const;

 private:
  std::string_view text_;
};

}  // namespace kerf::ir
