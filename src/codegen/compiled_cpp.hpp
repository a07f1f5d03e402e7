#pragma once
// For tests: compiles generated C++ with the host compiler, loads it and runs it.

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "codegen/naive.hpp"
#include "ir/graph.hpp"
#include "ir/tensor.hpp"

namespace kerf::codegen {

/// Outputs of the naive C++ code for `graph`. They and the scratch buffers are filled with 0xff bytes before the run,
/// so that an element nobody wrote shows as NaN, -1 or 255.
Result<std::vector<ir::HostTensor>> run_compiled(const ir::Graph& graph, std::span<const ir::HostTensor> inputs,
                                                 const Bindings& bindings, const NaiveOptions& options);

/// Lines that define the shape symbols as the compiler drivers do.
std::string symbol_definitions(const Bindings& bindings);

/// Writes `source` to a temporary file and runs `command` with the file's path in place of "{}". The error holds the
/// command's words.
Status check_with(const std::string& command, const std::string& source, const std::string& extension);

/// Whether a program can be started by this name.
bool is_installed(const std::string& program);

}  // namespace kerf::codegen
