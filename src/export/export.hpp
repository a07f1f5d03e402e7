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

/// What is exported: a candidate of a task with values for its tunables. Borrowed for the call.
struct Winner {
  const Task& task;
  std::string target;  ///< whose shape sets are certified
  const Candidate& candidate;
  Bindings tunables;                         ///< for every certified shape set ...
  std::map<std::string, Bindings> by_shape;  ///< ... but these; each passed every gate
  std::string origin;                        ///< for people: where it comes from and what it reached; lines of text
  std::string name{};                        ///< of the exported function; "": the task's name as a C identifier
  std::string date{};                        ///< of the export, for people: "2026-03-14"; "": not said
  std::vector<ShapeSet> more_shapes{};       ///< compiled for these as well; each passed every check of the judge
};

struct File {
  std::string path;  ///< relative; no folders
  std::string text;
};

/// How a check program is built by one command of a compiler, without CMake.
struct CheckBuild {
  std::vector<std::string> compilers;  ///< by name; the first one that is installed
  std::vector<std::string> flags;      ///< before the sources
  std::vector<std::string> libraries;  ///< after them
  std::vector<std::string> readable;   ///< what the program reads beside the system's libraries
  bool has_race_checker = false;       ///< compute-sanitizer can look for races and wrong barriers in it
  bool uses_devices = false;           ///< opens device files, so that file rules would keep it from running
  std::string source_extension;        ///< of a file that holds a header's implementation: ".cpp"
};

/// What a Python file compiles the kernel with (templates/torch_compile.py).
struct PythonBuild {
  std::string language;                          ///< as the file's runtime knows it: "cpp"
  std::string prelude{};                         ///< before constants and kernel
  std::vector<std::string> options{};            ///< of the compiler
  std::map<std::string, std::string> headers{};  ///< by name: what the kernel includes and the compiler does not bring
};

/// Writes kernels of one language. Targets name theirs (target/target.hpp); a language may serve several targets.
class Exporter {
 public:
  virtual ~Exporter() = default;
  /// Header and sources; with `one_header` all of it in the header.
  virtual Result<std::vector<File>> library(const Winner& winner, bool one_header) const = 0;
  /// A CMakeLists.txt for `library` and a program that compares it with a double-precision reference.
  virtual Result<std::vector<File>> check_program(const Winner& winner, const std::vector<File>& library) const = 0;
  virtual CheckBuild check_build(const Winner& winner) const = 0;
  /// invalid_input where kernels of this language cannot be run from Python.
  virtual Result<PythonBuild> python_build(const Winner& winner) const = 0;
  /// How the sources are compiled, in words.
  virtual std::string compile_advice() const = 0;
};
const Exporter& cpp_exporter();
const Exporter& opencl_exporter();
const Exporter& cuda_exporter();

enum class Format { source, c_header, cmake };
std::optional<Format> format_from_name(std::string_view name);  ///< "source", "c-header", "cmake"
std::vector<std::string> format_names();

/// The files of an export. The shapes it was verified on run the kernel compiled for them; others run a plain one, or
/// are refused when the reference is C++ code or when they are outside of the task's domain (export/domain.hpp). An
/// error names what cannot be exported. The first line of every file says that Kerf wrote it.
Result<std::vector<File>> export_files(const Exporter& exporter, const Winner& winner, Format format);

/// Makes its first line say so, as a comment in the file's language; a Python file's text moves down by it.
void mark_exported(File& file);

/// Whether the beginning of a file is that of an exported one, which a later export may replace.
bool is_exported(std::string_view text);

/// The name of the exported function.
std::string function_name(const Winner& winner);

}  // namespace kerf::exporting
