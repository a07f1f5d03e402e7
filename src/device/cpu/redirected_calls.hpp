#pragma once
// Calls of a kernel that lead to the worker instead of a library.
//
// `#pragma omp critical(name)`: compilers give each name a writable word in the kernel, which a worker makes read-only.
// So that honest kernels can use names all the same, their calls lead to locks that the worker keeps.
//
// The heap (kept_heap.hpp): in some calls freed blocks keep what the kernel left in them, in some new ones are soiled.

#include <vector>

namespace kerf {

/// A place that holds the address of a function of the heap.
struct HeapReference {
  void* place = nullptr;
  void* original = nullptr;
  void* ours = nullptr;
};

struct Redirected {
  std::vector<HeapReference> heap;  ///< not redirected yet
  bool uses_openmp = false;         ///< calls functions of OpenMP
};

/// Points the library's references to the critical sections of gcc's and clang's OpenMP to ours. `library` is a handle
/// of dlopen whose writable memory is still writable.
Redirected redirect_calls(void* library);

/// The references to the heap lead to ours while this lives, and to the C library's else: a kernel could tell by the
/// address of malloc that it is judged.
class RedirectedHeap {
 public:
  explicit RedirectedHeap(const std::vector<HeapReference>& references);
  ~RedirectedHeap();
  RedirectedHeap(const RedirectedHeap&) = delete;
  RedirectedHeap& operator=(const RedirectedHeap&) = delete;

 private:
  const std::vector<HeapReference>& references_;
};

}  // namespace kerf
