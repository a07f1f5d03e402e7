#include "language/cuda_cpp/cubin.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

TEST(ReadCubin, RefusesBytesThatAreNoElfFile) {
  EXPECT_FALSE(read_cubin(""));
  EXPECT_FALSE(read_cubin(std::string(200, 'x')));
}

TEST(ReadCubin, RefusesASectionTableOutsideTheFile) {
  std::string bytes(64, '\0');
  bytes.replace(0, 5,
                "\x7f"
                "ELF\x02");
  bytes[40] = 100;  // e_shoff
  bytes[60] = 3;    // e_shnum
  EXPECT_FALSE(read_cubin(bytes));
}

TEST(Demangled, NamesAStaticVariableOfAKernel) {
  EXPECT_EQ(demangled("_ZZ2k2E7counter"), "k2::counter");
  EXPECT_EQ(demangled("counter"), "counter");
  EXPECT_EQ(demangled("g"), "g");
}

}  // namespace
}  // namespace kerf
