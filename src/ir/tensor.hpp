#pragma once
// Dense row-major tensors in host memory.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/dtype.hpp"

namespace kerf::ir {

/// Storage of one dtype; elements are reached through load_element/store_element or `as<T>()`.
struct HostTensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  std::int64_t elements() const {
    std::int64_t count = 1;
    for (const auto extent : shape) count *= extent;
    return count;
  }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
};

/// A tensor of zeros.
inline HostTensor make_tensor(DType dtype, std::vector<std::int64_t> shape) {
  HostTensor tensor{dtype, std::move(shape), {}};
  tensor.bytes.resize(static_cast<std::size_t>(tensor.elements()) * dtype_size(dtype));
  return tensor;
}

}  // namespace kerf::ir
