#include "language/cuda_cpp/cubin.hpp"

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/rng.hpp"

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

TEST(ReadCubin, SurvivesDamagedFiles) {
  const std::string whole = read_file(KERF_ELF_SAMPLE).value();  // of another machine, but with the same tables
  EXPECT_TRUE(read_cubin(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string prefix = whole.substr(0, length);
    EXPECT_FALSE(read_cubin(prefix)) << length;
  }
  Rng rng(5);
  const auto last = static_cast<std::int64_t>(whole.size()) - 1;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (auto left = rng.integer(1, 8); left > 0; --left)
      bytes[static_cast<std::size_t>(rng.integer(0, last))] = static_cast<char>(rng.integer(0, 255));
    (void)read_cubin(bytes);
  }
}

TEST(Demangled, NamesAStaticVariableOfAKernel) {
  EXPECT_EQ(demangled("_ZZ2k2E7counter"), "k2::counter");
  EXPECT_EQ(demangled("counter"), "counter");
  EXPECT_EQ(demangled("g"), "g");
}

}  // namespace
}  // namespace kerf
