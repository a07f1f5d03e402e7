#include "ir/interpret/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace kerf::ir::eval {
namespace {

constexpr std::int64_t kAlignment = 64;

}  // namespace

Memory::~Memory() {
  for (const auto& [size, block] : idle_) std::free(block);
}

void Memory::trim() {
  for (const auto& [size, block] : idle_) std::free(block);
  idle_.clear();
  idle_bytes_ = 0;
}

Status Memory::reserve(std::int64_t bytes, const std::string& what) {
  if (bytes > max_bytes_ - used_bytes_)
    return fail(
        Errc::unavailable,
        fmt::format("evaluating the reference needs more than the {:.2f} GiB it may hold: {} takes {:.3f} GiB and "
                    "{:.3f} GiB are in use; use a smaller shape or raise the memory limit",
                    static_cast<double>(max_bytes_) / 0x1p30, what, static_cast<double>(bytes) / 0x1p30,
                    static_cast<double>(used_bytes_) / 0x1p30));
  used_bytes_ += bytes;
  if (used_bytes_ + idle_bytes_ > max_bytes_) trim();
  return {};
}

Result<std::shared_ptr<std::byte>> Memory::allocate(std::int64_t bytes, const std::string& what) {
  const std::int64_t size = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  std::byte* block = nullptr;
  std::int64_t block_size = size;
  const auto found = idle_.lower_bound(size);
  if (found != idle_.end() && found->first <= size + size / 8) {
    block = found->second;
    block_size = found->first;
    idle_bytes_ -= block_size;
    idle_.erase(found);
  }
  if (auto reserved = reserve(block_size, what); !reserved) {
    std::free(block);
    return tl::unexpected<Error>(std::move(reserved).error());
  }
  if (block == nullptr) {
    block = static_cast<std::byte*>(std::aligned_alloc(kAlignment, static_cast<std::size_t>(block_size)));
    if (block == nullptr) {
      used_bytes_ -= block_size;
      return fail(Errc::unavailable,
                  fmt::format("out of memory: {} takes {:.3f} GiB", what, static_cast<double>(block_size) / 0x1p30));
    }
  }
  return std::shared_ptr<std::byte>(block, [this, block_size](std::byte* returned) {
    used_bytes_ -= block_size;
    idle_bytes_ += block_size;
    idle_.emplace(block_size, returned);
  });
}

}  // namespace kerf::ir::eval
