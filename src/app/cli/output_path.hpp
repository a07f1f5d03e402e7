#pragma once
// Whether a place can be written to, asked before the work whose result goes there, and without losing what is there.

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kerf::cli {

/// What a command writes to a file that the user names. A file that is there is replaced only when it is known to be of
/// the same kind; kernels and tasks are people's to edit, so none that is there is replaced.
enum class OutputKind { exported_code, report, memory, skills, prompts, traces, kernel, task };

struct OutputFile {
  std::filesystem::path path;  ///< "": nothing is written
  OutputKind kind;
  std::vector<std::filesystem::path> inputs{};  ///< what the command reads: never replaced
};

/// An error (invalid_input) when the file cannot be written (see check_output_file), or when that would destroy
/// something: one of the inputs, a file by which a run is kept, or a file that is there, has content and does not show
/// that Kerf wrote it as one of this kind. Leaves nothing behind.
Status check_output(const OutputFile& file);

/// Writes the whole file or nothing, after the same checks; a file that has this very text already is fine. Where a
/// link leads to a file, that file is replaced.
Status write_output(const OutputFile& file, std::string_view text);

/// An error (invalid_input) when no file can be written at `path`, whose missing parent folders would be made, but
/// none at the top of the file system; "" is fine: nothing goes there. Leaves nothing behind. Says nothing about what
/// is there: use check_output for files that are written.
Status check_output_file(const std::filesystem::path& path);

/// Likewise for files in the folder `path`, which need not be there.
Status check_output_folder(const std::filesystem::path& path);

}  // namespace kerf::cli
