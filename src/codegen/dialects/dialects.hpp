#pragma once
// The dialects, one file each. Languages hand them out (Language::dialect); code that is about a language on purpose,
// and tests, name them here.

#include <array>
#include <string>
#include <vector>

#include "codegen/dialect.hpp"

namespace kerf::codegen::dialects {

extern const DialectTraits cpp, opencl_c, cuda_cpp;

inline constexpr std::array<const DialectTraits*, 3> kAll{&cpp, &opencl_c, &cuda_cpp};
std::vector<std::string> language_names();

}  // namespace kerf::codegen::dialects
