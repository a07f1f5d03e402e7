#pragma once
// How kernels are compiled, for those who compile them elsewhere.

#include <string>
#include <string_view>
#include <vector>

namespace kerf::cpp {

/// Flags that decide what code is made, without the architecture.
const std::vector<std::string>& kernel_flags();
/// `#include` lines that stand before every kernel.
std::string_view kernel_includes();
/// -march of `DeviceFacts::arch`: "x86-64-native" and "" mean this machine.
std::string arch_flag(const std::string& arch);

}  // namespace kerf::cpp
