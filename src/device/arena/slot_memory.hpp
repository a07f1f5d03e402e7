#pragma once
// The buffers of all slots in one file of exactly their size. Every kernel process has a file of its own, made when it
// is loaded and gone with it: no process reads what another left, and none reaches another's slots.

#include <cstdint>
#include <span>
#include <vector>

#include "device/arena/shared_memory.hpp"
#include "device/arena/zones.hpp"
#include "oracle/dataset.hpp"

namespace kerf::arena {

/// Sizes of one slot's buffers, inputs first.
struct SlotShape {
  std::vector<std::int64_t> bytes;
  int inputs = 0;
};

class SlotMemory {
 public:
  SlotMemory() = default;
  /// `seed` decides the offsets of the data within their pages.
  static Result<SlotMemory> make(const SlotShape& shape, int slots, std::uint64_t seed);

  /// Inputs, poisoned outputs, red zones.
  void fill(int slot, const oracle::DataSet& data, Poison poison);
  /// The same with the inputs that lie in another memory of the same shape.
  void fill_from(const SlotMemory& other, int slot, Poison poison);
  void release(int slot);  ///< gives the slot's pages back to the system

  bool red_zones_intact(int slot, std::size_t buffer, Poison poison) const;
  std::span<const std::byte> bytes(int slot, std::size_t buffer) const;
  /// `data` has the buffer's size.
  void write(int slot, std::size_t buffer, std::span<const std::byte> data);

  int fd() const { return memory_.fd(); }
  const std::vector<std::vector<Place>>& places() const { return places_; }  ///< [slot][buffer]

 private:
  void fill_outputs(int slot, Poison poison);
  const Place& place(int slot, std::size_t buffer) const { return places_[static_cast<std::size_t>(slot)][buffer]; }

  SharedMemory memory_;
  std::vector<std::vector<Place>> places_;
  std::size_t inputs_ = 0;
};

}  // namespace kerf::arena
