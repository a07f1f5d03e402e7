#include "device/arena/slot_memory.hpp"

#include <cstring>
#include <utility>

#include "base/parallel.hpp"

namespace kerf::arena {
namespace {

constexpr std::int64_t kCopyGrain = 4 << 20;

/// Offsets that look unrelated for every buffer of every process (the finalizer of splitmix64).
std::uint64_t scatter(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

void copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  parallel_for(bytes, kCopyGrain, 0, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
  });
}

}  // namespace

Result<SlotMemory> SlotMemory::make(const SlotShape& shape, int slots, std::uint64_t seed) {
  SlotMemory made;
  made.inputs_ = static_cast<std::size_t>(shape.inputs);
  ZonePlanner planner;
  std::uint64_t turn = scatter(seed + 1);
  for (int slot = 0; slot < slots; ++slot) {
    made.places_.emplace_back();
    for (const std::int64_t bytes : shape.bytes) made.places_.back().push_back(planner.add(bytes, scatter(++turn)));
  }
  KERF_TRY(made.memory_, SharedMemory::make(planner.end()));
  return made;
}

void SlotMemory::fill(int slot, const oracle::DataSet& data, Poison poison) {
  for (std::size_t i = 0; i < inputs_; ++i)
    copy(memory_.data() + place(slot, i).data, data.inputs[i].bytes.data(), place(slot, i).bytes);
  fill_outputs(slot, poison);
}

void SlotMemory::fill_from(const SlotMemory& other, int slot, Poison poison) {
  for (std::size_t i = 0; i < inputs_; ++i)
    copy(memory_.data() + place(slot, i).data, other.bytes(slot, i).data(), place(slot, i).bytes);
  fill_outputs(slot, poison);
}

void SlotMemory::fill_outputs(int slot, Poison poison) {
  const auto& places = places_[static_cast<std::size_t>(slot)];
  for (const Place& place : places) fill_red_zones(memory_.data(), place, poison);
  for (std::size_t i = inputs_; i < places.size(); ++i) fill_poison(memory_.data(), places[i], poison);
}

void SlotMemory::release(int slot) {
  const auto& places = places_[static_cast<std::size_t>(slot)];
  if (places.empty()) return;
  const std::int64_t begin = places.front().zone;
  memory_.release(begin, places.back().zone + places.back().zone_bytes - begin);
}

bool SlotMemory::red_zones_intact(int slot, std::size_t buffer, Poison poison) const {
  return arena::red_zones_intact(memory_.data(), place(slot, buffer), poison);
}

std::span<const std::byte> SlotMemory::bytes(int slot, std::size_t buffer) const {
  const Place& where = place(slot, buffer);
  return {memory_.data() + where.data, static_cast<std::size_t>(where.bytes)};
}

void SlotMemory::write(int slot, std::size_t buffer, std::span<const std::byte> data) {
  copy(memory_.data() + place(slot, buffer).data, data.data(), place(slot, buffer).bytes);
}

}  // namespace kerf::arena
