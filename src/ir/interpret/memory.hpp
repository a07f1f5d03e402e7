#pragma once
// Buffers of an evaluation, counted against its memory limit.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/interpret/index.hpp"

namespace kerf::ir::eval {

/// Hands out uninitialised 64-byte aligned blocks and takes them back for reuse. Not thread-safe.
class Memory {
 public:
  explicit Memory(std::int64_t max_bytes) : max_bytes_(max_bytes) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  /// A block of at least `bytes`; it returns to this Memory, which must outlive it, when the last owner is gone.
  /// Shared because a reshaped value is the same block under another shape.
  Result<std::shared_ptr<std::byte>> allocate(std::int64_t bytes, const std::string& what);

  /// Counts memory that the caller allocates itself.
  Status reserve(std::int64_t bytes, const std::string& what);

 private:
  void trim();

  std::int64_t max_bytes_;
  std::int64_t used_bytes_ = 0;                   // held by owners
  std::int64_t idle_bytes_ = 0;                   // in idle_
  std::multimap<std::int64_t, std::byte*> idle_;  // size -> block, for reuse
};

/// The value of a node: row-major elements of `storage`, which is f64, i64 or bool except for graph inputs.
struct Value {
  DType storage = DType::f64;
  Extents extents;
  const std::byte* data = nullptr;
  std::byte* writable = nullptr;     ///< null for graph inputs
  std::shared_ptr<std::byte> owner;  ///< null when the caller or an output owns the memory; shared by aliases

  std::int64_t count() const { return element_count(extents); }
};

}  // namespace kerf::ir::eval
