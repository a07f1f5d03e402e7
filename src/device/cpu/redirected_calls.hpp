#pragma once
// Calls of a kernel that lead to the worker instead of a library.
//
// `#pragma omp critical(name)`: compilers give each name a writable word in the kernel, which a worker makes read-only.
// So that honest kernels can use names all the same, their calls lead to locks that the worker keeps.
//
// The heap (kept_heap.hpp): in some calls freed blocks keep what the kernel left in them.

namespace kerf {

/// Points the library's references to the critical sections of gcc's and clang's OpenMP and to the heap to ours.
/// `library` is a handle of dlopen whose writable memory is still writable.
void redirect_calls(void* library);

}  // namespace kerf
