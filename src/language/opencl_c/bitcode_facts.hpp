#pragma once
// Reads LLVM bitcode with the LLVM that the OpenCL driver has already brought into this process. Only for compiler
// workers.

#include <optional>
#include <string>
#include <string_view>

#include "model/artifact.hpp"

namespace kerf::opencl {

/// Imports, inline assembly, writable globals and constructors of a program that PoCL has linked with its built-in
/// library; of `kernels` only those with variables in local memory, and only name and shared_bytes. Nothing when no
/// LLVM is loaded or the bytes are not bitcode.
std::optional<StaticFacts> read_bitcode_facts(std::string_view bitcode);

/// Imports and writable globals of a program in PTX, the text that NVIDIA's driver gives out as its program binary.
StaticFacts read_ptx_facts(std::string_view ptx);

}  // namespace kerf::opencl
