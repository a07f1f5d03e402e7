#pragma once
// What the data of a task takes in host memory, told before it is allocated.

#include <cstdint>

#include "base/result.hpp"
#include "model/task.hpp"

namespace kerf::oracle {

/// Bytes of one data set of the shape: the inputs as they are stored; of every output the expected value and its bound
/// in double precision. Does not overflow.
Result<double> data_bytes(const Task& task, const ShapeSet& shape);

/// An error that names the largest tensors and what to try when one data set takes more than `available` bytes.
Status check_memory(const Task& task, const ShapeSet& shape, std::int64_t available);

}  // namespace kerf::oracle
