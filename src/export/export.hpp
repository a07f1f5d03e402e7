#pragma once
// A verified kernel as files that need no Kerf: kernel, launcher, dispatcher, and a program that checks them.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/candidate.hpp"
#include "model/task.hpp"

namespace kerf::exporting {

/// What is exported. Borrowed for the call.
struct Winner {
  const Task& task;
  std::string target;  ///< "cpu", "opencl", "cuda"
  const Candidate& candidate;
  Bindings tunables;                         ///< for every certified shape set ...
  std::map<std::string, Bindings> by_shape;  ///< ... but these; each passed every gate
  std::string origin;                        ///< for people: where it comes from and what it reached; lines of text
};

struct File {
  std::string path;  ///< relative; no folders
  std::string text;
};

enum class Format { source, c_header, cmake };
std::optional<Format> format_from_name(std::string_view name);  ///< "source", "c-header", "cmake"
std::vector<std::string> format_names();

/// The files of an export. The shapes it was verified on run the kernel compiled for them; others run a plain one, or
/// are refused when the reference is C++ code. An error names what cannot be exported.
Result<std::vector<File>> export_files(const Winner& winner, Format format);

/// The name of the exported function: the task's name as a C identifier.
std::string function_name(const Task& task);

}  // namespace kerf::exporting
