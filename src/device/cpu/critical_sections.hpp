#pragma once
// `#pragma omp critical(name)`: compilers give each name a writable word in the kernel, which a worker makes read-only.
// So that honest kernels can use names all the same, their calls lead to locks that the worker keeps.

namespace kerf {

/// Points the library's references to the critical sections of gcc's and clang's OpenMP to ours. `library` is a handle
/// of dlopen whose writable memory is still writable.
void redirect_critical_sections(void* library);

}  // namespace kerf
