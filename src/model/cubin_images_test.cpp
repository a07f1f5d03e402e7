#include "model/cubin_images.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

TEST(CubinImages, ComeBackAsTheyWere) {
  const std::string elf(
      "\x7f"
      "ELF\0\n 12",
      9);
  for (const std::vector<std::string>& images : {std::vector<std::string>{elf}, {elf, "b"}, {"a", "", elf}})
    EXPECT_EQ(split_images(join_images(images)), images);
  EXPECT_EQ(join_images({elf}), elf) << "one image is nothing but itself";
}

TEST(CubinImages, DamagedOnesAreNone) {
  const std::string bytes = join_images({"first", "second"});
  for (const std::string& damaged :
       {bytes.substr(0, bytes.size() - 1), bytes + "x", bytes.substr(0, 11), std::string("kerf images 5 x\nfirst"),
        std::string("kerf images 99999999999999999999\n"), std::string("kerf images5\nfirst")})
    EXPECT_TRUE(split_images(damaged).empty()) << damaged;
}

}  // namespace
}  // namespace kerf
