#pragma once
// A heap that keeps what a kernel left in memory that it gave back. Whether a freed block comes back as it was is up to
// the allocator and to the rest of the program; a kernel that counts its calls there would be right in one program and
// wrong in another. While the heap is kept, a block comes back for the next request of its size, unchanged. While it is
// soiled, new blocks are full of what is no number: whoever counts on zeros there is wrong in a program that has used
// its heap before.

#include <string_view>

namespace kerf::cpu {

/// Our function for a symbol of the heap (malloc, operator new, ...), or null. `original` is what the kernel's
/// reference leads to: ours calls it unless the heap is kept.
void* heap_replacement(std::string_view symbol, void* original);

/// New blocks are soiled while this lives. One at a time, and not while the heap is kept.
class SoiledHeap {
 public:
  SoiledHeap();
  ~SoiledHeap();
  SoiledHeap(const SoiledHeap&) = delete;
  SoiledHeap& operator=(const SoiledHeap&) = delete;
};

/// What soiled memory is full of: NaN in every float type, -1 in integers.
inline constexpr int kSoil = 0xFF;

/// The heap is kept while this lives; afterwards all that was kept is given back. One at a time.
class KeptHeap {
 public:
  KeptHeap();
  ~KeptHeap();
  KeptHeap(const KeptHeap&) = delete;
  KeptHeap& operator=(const KeptHeap&) = delete;
};

}  // namespace kerf::cpu
