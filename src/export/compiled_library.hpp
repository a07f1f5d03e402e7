#pragma once
// Languages that are compiled ahead of time (C++, CUDA): one translation unit per certified shape set, a dispatcher, a
// plain fallback. What they share.

#include <functional>
#include <string>
#include <vector>

#include "export/check_program.hpp"
#include "export/parts.hpp"

namespace kerf::exporting {

/// What a language adds.
struct CompiledLanguage {
  std::string extension;            ///< of sources: ".cpp"
  std::string header_extension;     ///< ".h"
  std::string header_template;      ///< the public header
  std::string instance_template;    ///< kernel and launcher of one shape set
  std::string prelude;              ///< before kernels
  std::string status;               ///< type of what the functions return: "cudaError_t"
  std::string invalid_shape;        ///< what is returned for a shape that the task has no meaning for
  std::string unsupported_shape;    ///< and for one without a kernel
  std::string more_parameters{};    ///< of the exported function, after the buffers: "cudaStream_t kerf_stream"
  std::string more_arguments{};     ///< the same where it is called: "kerf_stream"
  std::vector<std::string> macros;  ///< that the instance template defines
  templates::Record values;         ///< for the instance template, the same for every set
  std::function<Result<std::string>()> fallback;  ///< namespace NAME_plain with kerf_run(symbols, buffers)
};

/// Header and sources; with `one_header` all of it in the header.
Result<std::vector<File>> compiled_library(const Winner& winner, const CompiledLanguage& language, bool one_header);

/// Parameters of a function that runs a kernel: "void* const* kerf_buffers, cudaStream_t kerf_stream".
std::string run_parameters(const CompiledLanguage& language);

}  // namespace kerf::exporting
