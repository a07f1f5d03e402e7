// A shared object for the tests of ELF readers: state, a constructor, imports, an exported function.
#include <cmath>
#include <cstdlib>

namespace {
int counter = 3;
struct AtLoad {
  AtLoad() { counter = std::atoi("4"); }
} at_load;
}  // namespace

extern "C" float kerf_elf_sample(float x) { return std::sin(x) + static_cast<float>(counter++); }
