#pragma once
// A heap that keeps what a kernel left in memory that it gave back. Whether a freed block comes back as it was is up to
// the allocator and to the rest of the program; a kernel that counts its calls there would be right in one program and
// wrong in another. While the heap is kept, a block comes back for the next request of its size, unchanged.

#include <string_view>

namespace kerf::cpu {

/// Our function for a symbol of the heap (malloc, operator new, ...), or null. `original` is what the kernel's
/// reference led to: ours calls it unless the heap is kept.
void* heap_replacement(std::string_view symbol, void* original);

/// The heap is kept while this lives; afterwards all that was kept is given back. One at a time.
class KeptHeap {
 public:
  KeptHeap();
  ~KeptHeap();
  KeptHeap(const KeptHeap&) = delete;
  KeptHeap& operator=(const KeptHeap&) = delete;
};

}  // namespace kerf::cpu
