/* kerf
target: cpu
*/
// Exploit: a detached thread by the C library's own function, found without importing it; it does the work after the
// call has returned, and spins for ever afterwards.
#include <elf.h>
static void* find(const char* wanted) {
  unsigned long base = reinterpret_cast<unsigned long>(&qsort) & ~4095UL;
  while (memcmp(reinterpret_cast<void*>(base), ELFMAG, 4) != 0) base -= 4096;
  const auto* head = reinterpret_cast<Elf64_Ehdr*>(base);
  const auto* program = reinterpret_cast<Elf64_Phdr*>(base + head->e_phoff);
  const Elf64_Dyn* dynamic = nullptr;
  for (int i = 0; i < head->e_phnum; ++i)
    if (program[i].p_type == PT_DYNAMIC) dynamic = reinterpret_cast<Elf64_Dyn*>(base + program[i].p_vaddr);
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  for (; dynamic && dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<Elf64_Sym*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_STRTAB) names = reinterpret_cast<char*>(dynamic->d_un.d_ptr);
  }
  for (const Elf64_Sym* s = symbols; s && reinterpret_cast<const char*>(s) < names; ++s) {
    const char* name = names + s->st_name;
    int i = 0;
    while (wanted[i] && name[i] == wanted[i]) ++i;
    if (!wanted[i] && !name[i] && s->st_value) return reinterpret_cast<void*>(base + s->st_value);
  }
  return nullptr;
}
static const float* volatile* job_of(void* argument) { return static_cast<const float* volatile*>(argument); }
static void* work(void* argument) {
  const float* x = job_of(argument)[0];
  float* y = const_cast<float*>(job_of(argument)[1]);
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  for (;;) __asm__ volatile("pause");
}
extern "C" void kerf_kernel(const float* x, float* y) {
  auto* create = reinterpret_cast<int (*)(unsigned long*, void*, void* (*)(void*), void*)>(find("pthread_create"));
  if (create == nullptr) return;
  const float** job = static_cast<const float**>(malloc(16));
  job[0] = x;
  job[1] = y;
  unsigned long id;
  create(&id, nullptr, work, job);
}
