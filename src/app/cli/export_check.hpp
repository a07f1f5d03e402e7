#pragma once
// The check program of an export, built and run before anything is handed over.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "export/export.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf::cli {

struct CheckedExport {
  bool ran = false;   ///< else `words` say why it could not be built here
  std::string words;  ///< one line for people: the compiler, and how many shapes were compared
};

/// Builds the exported files with their check program in a folder of its own and runs it, both in the sandbox, with the
/// 8 MiB of stack that a program usually has. An error (with the program's output) when it does not compile, crashes,
/// takes too long or finds a wrong result. `path` is where compilers are looked for.
Result<CheckedExport> run_export_check(const exporting::Exporter& exporter, const exporting::Winner& winner,
                                       exporting::Format format, const std::vector<exporting::File>& files,
                                       const std::string& path, Sandbox& sandbox);

}  // namespace kerf::cli
