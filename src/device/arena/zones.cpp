#include "device/arena/zones.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace kerf::arena {
namespace {

constexpr std::int64_t kGrain = 4 << 20;

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

constexpr std::uint16_t kRedWord = 0x7FFA;

/// Eight bytes of what lies beside buffers under Poison::b, by their place in the memory: two floats of ordinary size.
std::array<std::byte, 8> ordinary_bytes(std::int64_t at) {
  const std::uint64_t bits = mix64(0x51ab1e5eedULL + static_cast<std::uint64_t>(at / 8));
  return std::bit_cast<std::array<std::byte, 8>>((bits & 0x82FFFFFF82FFFFFFULL) | 0x3D0000003D000000ULL);
}

// Words are laid from the beginning of the memory, so a pattern does not depend on where a piece begins. Ranges may
// begin at odd bytes (a bool buffer of odd size).
void fill_words(std::byte* base, std::int64_t begin, std::int64_t end, std::uint16_t word) {
  std::byte bytes[2];
  std::memcpy(bytes, &word, 2);
  if (bytes[0] == bytes[1]) {
    std::memset(base + begin, static_cast<int>(bytes[0]), static_cast<std::size_t>(end - begin));
    return;
  }
  for (; begin < end && begin % 64 != 0; ++begin) base[begin] = bytes[begin % 2];
  std::byte line[64];
  for (int i = 0; i < 64; ++i) line[i] = bytes[i % 2];
  for (; begin + 64 <= end; begin += 64) std::memcpy(base + begin, line, 64);
  for (; begin < end; ++begin) base[begin] = bytes[begin % 2];
}

bool holds_words(const std::byte* base, std::int64_t begin, std::int64_t end, std::uint16_t word) {
  std::byte bytes[2];
  std::memcpy(bytes, &word, 2);
  unsigned different = 0;
  for (std::int64_t i = begin; i < end; ++i) different |= static_cast<unsigned>(base[i] ^ bytes[i % 2]);
  return different == 0;
}

void fill_ordinary(std::byte* base, std::int64_t begin, std::int64_t end) {
  while (begin < end) {
    const auto bytes = ordinary_bytes(begin);
    const std::int64_t count = std::min(end - begin, 8 - begin % 8);
    std::memcpy(base + begin, bytes.data() + begin % 8, static_cast<std::size_t>(count));
    begin += count;
  }
}

bool holds_ordinary(const std::byte* base, std::int64_t begin, std::int64_t end) {
  while (begin < end) {
    const auto bytes = ordinary_bytes(begin);
    const std::int64_t count = std::min(end - begin, 8 - begin % 8);
    if (std::memcmp(base + begin, bytes.data() + begin % 8, static_cast<std::size_t>(count)) != 0) return false;
    begin += count;
  }
  return true;
}

}  // namespace

Place ZonePlanner::add(std::int64_t bytes, std::uint64_t turn) {
  Place place;
  place.zone = next_;
  place.data = place.zone + round_up(kRedZoneBytes, 64) + 64 * static_cast<std::int64_t>(turn % 48);
  place.bytes = bytes;
  // Up to three pages more, so that the lower bits of addresses differ from slot to slot and no kernel knows them.
  const auto more = kPage * static_cast<std::int64_t>(mix64(zones_++) % 4);
  place.zone_bytes = round_up(place.data + bytes + kRedZoneBytes - place.zone, kPage) + more;
  next_ = place.zone + place.zone_bytes;
  return place;
}

ZoneSpread spread_zones(std::span<const std::vector<Place>> slots) {
  constexpr std::uint64_t kMorePages = 1 << 18;
  ZoneSpread spread;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const std::size_t count = slots[s].size();
    spread.begins.emplace_back(count);
    spread.bytes += kPage * static_cast<std::int64_t>(mix64(s) % kMorePages);
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t buffer = s % 2 == 0 ? turn : count - 1 - turn;
      spread.begins[s][buffer] = spread.bytes + kGuardBytes;
      spread.bytes = spread.begins[s][buffer] + slots[s][buffer].zone_bytes;
    }
  }
  spread.bytes += kGuardBytes;
  return spread;
}

std::int64_t tensor_bytes(DType dtype, std::span<const std::int64_t> shape) {
  auto bytes = static_cast<std::int64_t>(dtype_size(dtype));
  bool countable = true;
  for (const auto extent : shape) {
    if (extent == 0) return 0;
    countable = !__builtin_mul_overflow(bytes, extent, &bytes) && countable;
  }
  return countable ? bytes : std::numeric_limits<std::int64_t>::max();
}

void fill_red_zones(std::byte* base, const Place& place, Poison poison) {
  const std::int64_t after = place.data + place.bytes, end = place.zone + place.zone_bytes;
  if (poison == Poison::b) {
    fill_ordinary(base, place.zone, place.data);
    fill_ordinary(base, after, end);
    return;
  }
  fill_words(base, place.zone, place.data, kRedWord);
  fill_words(base, after, end, kRedWord);
}

bool red_zones_intact(const std::byte* base, const Place& place, Poison poison) {
  const std::int64_t after = place.data + place.bytes, end = place.zone + place.zone_bytes;
  if (poison == Poison::b) return holds_ordinary(base, place.zone, place.data) && holds_ordinary(base, after, end);
  return holds_words(base, place.zone, place.data, kRedWord) && holds_words(base, after, end, kRedWord);
}

void fill_poison(std::byte* base, const Place& place, Poison poison) {
  parallel_for(place.bytes, kGrain, 0, [&](std::int64_t begin, std::int64_t end) {
    fill_words(base, place.data + begin, place.data + end, static_cast<std::uint16_t>(poison));
  });
}

}  // namespace kerf::arena
