#pragma once
// Where buffers lie in shared memory: each in a zone of whole pages, with red zones around it. In the file zones follow
// each other without a gap, so that the file holds nothing else; in a worker unmapped pages lie between them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/device.hpp"

namespace kerf::arena {

inline constexpr std::int64_t kPage = 4096;
inline constexpr std::int64_t kRedZoneBytes = 256;
inline constexpr std::int64_t kGuardBytes = 64 * kPage;  ///< unmapped between zones in a worker: address space only

/// Offsets in the file, bytes.
struct Place {
  std::int64_t zone = 0;        ///< page-aligned
  std::int64_t zone_bytes = 0;  ///< whole pages
  std::int64_t data = 0;        ///< 64-byte aligned
  std::int64_t bytes = 0;
};

/// Hands out zones one after the other. `turn` varies the offset of the data within a page.
class ZonePlanner {
 public:
  Place add(std::int64_t bytes, std::uint64_t turn);
  std::int64_t end() const { return next_; }  ///< size of the file: all of it is zones

 private:
  std::int64_t next_ = 0;
  std::uint64_t zones_ = 0;
};

/// Where a worker maps the zones of its slots, from one address on, so that addresses tell a kernel nothing: at least
/// kGuardBytes before, between and after zones are not mapped, before a slot up to 1 GiB more (address space only), so
/// that no bit of an address is alike in all slots; and in slots of odd numbers the last buffer comes first.
struct ZoneSpread {
  std::vector<std::vector<std::int64_t>> begins;  ///< [slot][buffer]: of its zone
  std::int64_t bytes = 0;                         ///< from the first address to the end of what is not mapped
};
ZoneSpread spread_zones(std::span<const std::vector<Place>> slots);

/// Bytes of a tensor; 0 when an extent is 0, the largest number when they cannot be counted.
std::int64_t tensor_bytes(DType dtype, std::span<const std::int64_t> shape);

/// Fills everything in the zone outside the buffer. With Poison::a the pattern is NaN in every float type, so that a
/// read outside shows too, and differs from both poisons. With Poison::b it is numbers of ordinary size, as other data
/// beside a buffer would be: a kernel that knows the pattern does not know all of its calls by it.
void fill_red_zones(std::byte* base, const Place& place, Poison poison);
bool red_zones_intact(const std::byte* base, const Place& place, Poison poison);

/// Fills the buffer with the poison's words.
void fill_poison(std::byte* base, const Place& place, Poison poison);

}  // namespace kerf::arena
