#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto wrong = kerf::fuzz::check_task({reinterpret_cast<const char*>(data), size});
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "property broken: %s\n", wrong.c_str());
  std::abort();
}
