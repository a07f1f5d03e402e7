#pragma once
// Where buffers lie in shared memory: each in a zone of whole pages, with red zones around it and an unmapped page
// before and after.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/device.hpp"

namespace kerf::arena {

inline constexpr std::int64_t kPage = 4096;
inline constexpr std::int64_t kRedZoneBytes = 256;
inline constexpr std::int64_t kGuardBytes =
    64 * kPage;  ///< unmapped between zones; a hole, so it costs address space only

/// Offsets in the shared memory, bytes.
struct Place {
  std::int64_t zone = 0;        ///< page-aligned; kGuardBytes before it and after its end are never mapped
  std::int64_t zone_bytes = 0;  ///< whole pages
  std::int64_t data = 0;        ///< 64-byte aligned
  std::int64_t bytes = 0;
};

/// Hands out zones one after the other. `turn` varies the offset of the data within a page.
class ZonePlanner {
 public:
  explicit ZonePlanner(std::int64_t begin) : next_(begin) {}
  Place add(std::int64_t bytes, int turn);
  std::int64_t end() const { return next_ + kGuardBytes; }  ///< with the last unmapped pages

 private:
  std::int64_t next_;
};

/// Bytes of a tensor; 0 when an extent is 0.
std::int64_t tensor_bytes(DType dtype, std::span<const std::int64_t> shape);

/// Fills everything in the zone outside the buffer. The pattern is NaN in every float type, so that a read outside
/// shows too, and differs from both poisons.
void fill_red_zones(std::byte* base, const Place& place, Poison poison);
bool red_zones_intact(const std::byte* base, const Place& place, Poison poison);

/// Fills the buffer with the poison's words.
void fill_poison(std::byte* base, const Place& place, Poison poison);

}  // namespace kerf::arena
