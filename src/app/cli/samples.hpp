#pragma once
// The sample tasks that the program carries with it, so that it can be tried without the source tree.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "run/run_task.hpp"

namespace kerf::cli {

inline constexpr std::string_view kSamplePrefix = "sample:";  ///< of "sample:softmax" in place of a task file

/// "softmax", "cpp_reference/box_filter", ...
std::vector<std::string> sample_names();

/// not_found names the nearest sample.
Result<TaskText> read_sample(const std::string& name);

/// Those with an expression, which the builtin mind can write kernels for.
Result<std::vector<TaskText>> expression_samples();

/// Writes every sample below the folder; existing files that differ are left alone and named in the error.
Result<std::vector<std::filesystem::path>> write_samples(const std::filesystem::path& folder);

}  // namespace kerf::cli
