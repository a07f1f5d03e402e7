#pragma once
// What the pool and a compiler process say to each other.
//   greeting:  bool usable, text (version, or why not)
//   request:   text source, count, text option...
//   answer:    Status, text log, text cubin, text ptx

#include <cstdint>

namespace kerf::nvrtc {

enum class Status : std::uint32_t { compiled, refused, bad_option };

inline constexpr const char* kSourceName = "kernel.cu";  ///< as diagnostics show it

}  // namespace kerf::nvrtc
