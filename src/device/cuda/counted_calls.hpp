#pragma once
// One call of a kernel in a process of its own, for a profiler to look at: what the judge writes down and the process
// (`kerf worker cuda-calls`) reads.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/cuda/protocol.hpp"

namespace kerf::cuda {

struct CountedCall {
  struct Buffer {
    std::uint64_t bytes = 0;
    std::string content{};  ///< of an input; "" for outputs, which begin with zeros
  };
  std::vector<Buffer> buffers;
  std::vector<std::uint64_t> scratch;  ///< bytes
  std::string cubin;
  std::vector<LaunchNumbers> launches;
};

std::string encode(const CountedCall& call);
Result<CountedCall> decode_counted_call(std::string_view text);

/// Makes the buffers, launches once, waits for the end.
Status run_counted_call(const CountedCall& call, const std::string& driver_library, int device);

}  // namespace kerf::cuda
