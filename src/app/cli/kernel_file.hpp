#pragma once
// Kernel files as commands take them.

#include <string>

#include "base/result.hpp"
#include "model/candidate.hpp"

namespace kerf::cli {

/// The target by option, header or extension, in this order; they must not contradict each other. `asked` and `header`
/// may be "".
Result<std::string> choose_target(const std::string& path, const std::string& asked, const std::string& header);

/// A kernel whose header can be read, for a target that exists.
Result<Candidate> read_kernel_file(const std::string& path, const std::string& target);

/// Its text; not_found when there is no such file.
Result<std::string> read_kernel_text(const std::string& path);

}  // namespace kerf::cli
