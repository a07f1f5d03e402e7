#pragma once
// The program that builds with the vendor's compiler and compares an exported kernel with a double-precision reference:
// the parts that do not depend on the language.

#include <string>
#include <vector>

#include "base/template.hpp"
#include "export/export.hpp"

namespace kerf::exporting {

/// What a language adds.
struct CheckProgram {
  std::string language;                ///< of the templates: check_run_LANGUAGE.in, CMakeLists_LANGUAGE.txt.in
  std::string header_extension;        ///< ".h"
  std::string extension;               ///< of the program's own source: ".cpp"
  bool typed_device_pointers = false;  ///< buffers on the device are passed as pointers to their elements
  std::vector<File> references{};      ///< of NAME_reference on the device, for check_reference_LANGUAGE.in; none: the
                                       ///< host has it
  templates::Record cmake_values{};    ///< further values for the CMakeLists.txt
};

/// CMakeLists.txt and the program for the sources in `library`.
Result<std::vector<File>> check_files(const Winner& winner, const std::vector<File>& library,
                                      const CheckProgram& program);

}  // namespace kerf::exporting
