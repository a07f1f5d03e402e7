#pragma once
// The program that builds with the vendor's compiler and compares an exported kernel with a double-precision reference:
// the parts that do not depend on the language.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "export/export.hpp"

namespace kerf::exporting {

/// What a language adds.
struct CheckProgram {
  std::vector<File> references;        ///< sources of the function NAME_reference
  std::string reference_template;      ///< how it is called
  std::string run_template;            ///< how the exported function is called
  std::string cmake_template;          ///< its CMakeLists.txt
  std::string header_extension;        ///< ".h"
  std::string extension;               ///< of the program's own source: ".cpp"
  bool typed_device_pointers = false;  ///< buffers on the device are passed as pointers to their elements
  std::map<std::string_view, std::string> cmake_values{};  ///< further values for the CMakeLists.txt
};

/// CMakeLists.txt and the program for the sources in `library`.
Result<std::vector<File>> check_files(const Winner& winner, const std::vector<File>& library,
                                      const CheckProgram& program);

/// The reference as plain loops on the host: from the task's graph, or its own C++.
Result<std::vector<File>> host_references(const Winner& winner);

}  // namespace kerf::exporting
