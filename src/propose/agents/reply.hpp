#pragma once
// A kernel from what a model answered: a whole file in a code block, or exact edits of the kernel it was shown.

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kerf::agents {

/// The kernel file. `base`: the kernel that edits apply to; "" when there is none. The error says what is wrong with
/// the answer, in words for the one who wrote it.
Result<std::string> kernel_from_reply(std::string_view reply, std::string_view base);

/// The text with the answer's edits made, whole or not at all; an error when there are none. `name`: what is edited,
/// for the error's words.
Result<std::string> edited_text(std::string_view reply, std::string_view text, std::string_view name);

}  // namespace kerf::agents
