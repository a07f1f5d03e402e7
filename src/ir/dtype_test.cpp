#include "ir/dtype.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/rng.hpp"

namespace kerf {
namespace {

constexpr DType kAll[] = {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i32, DType::i64, DType::boolean};

TEST(DType, NamesRoundTrip) {
  for (const DType dtype : kAll) EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
  EXPECT_FALSE(dtype_from_name("float"));
}

TEST(DType, PromotionIsSymmetricAndNeverNarrows) {
  for (const DType a : kAll)
    for (const DType b : kAll) {
      EXPECT_EQ(promote(a, b), promote(b, a));
      EXPECT_TRUE(!is_float(a) || is_float(promote(a, b)));
      EXPECT_EQ(promote(a, promote(a, b)), promote(a, b));
    }
  EXPECT_EQ(promote(DType::f16, DType::bf16), DType::f32);
  EXPECT_EQ(promote(DType::i64, DType::f16), DType::f16);
}

TEST(F16, EveryBitPatternSurvivesTheWayThroughF32) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<unsigned short>(bits);
    const float wide = f16_to_f32(half);
    if (std::isnan(wide))
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(wide))));
    else
      EXPECT_EQ(f32_to_f16(wide), half);
  }
}

TEST(BF16, EveryBitPatternSurvivesTheWayThroughF32) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto brain = static_cast<unsigned short>(bits);
    const float wide = bf16_to_f32(brain);
    if (std::isnan(wide))
      EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(wide))));
    else
      EXPECT_EQ(f32_to_bf16(wide), brain);
  }
}

/// The representable value next to `bits` in magnitude, as doubles; infinity as the value that would follow.
double magnitude_of(DType dtype, unsigned bits) {
  if (dtype == DType::f16) return bits == 0x7c00 ? 65536.0 : f16_to_f32(static_cast<unsigned short>(bits));
  return bits == 0x7f80 ? 0x1p128 : bf16_to_f32(static_cast<unsigned short>(bits));
}

TEST(StoreElement, RoundsDoublesToTheNearestSixteenBitValueTiesToEven) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const unsigned infinity = dtype == DType::f16 ? 0x7c00 : 0x7f80;
    for (unsigned bits = 0; bits < infinity; ++bits) {
      const double low = magnitude_of(dtype, bits), high = magnitude_of(dtype, bits + 1),
                   middle = low + (high - low) / 2;
      const auto stored = [&](double value) {
        std::uint16_t result = 0;
        store_element(dtype, &result, 0, value);
        return static_cast<unsigned>(result);
      };
      ASSERT_EQ(stored(low), bits);
      ASSERT_EQ(stored(middle), bits + (bits & 1)) << dtype_name(dtype) << " " << middle;
      ASSERT_EQ(stored(std::nextafter(middle, 0.0)), bits) << dtype_name(dtype) << " " << middle;
      ASSERT_EQ(stored(std::nextafter(middle, 1e300)), bits + 1) << dtype_name(dtype) << " " << middle;
      ASSERT_EQ(stored(-std::nextafter(middle, 1e300)), (bits + 1) | 0x8000);
    }
  }
}

TEST(StoreElement, KeepsNanAndInfinityAndFlagsAreZeroOrOne) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    std::uint64_t space = 0;
    store_element(dtype, &space, 0, NAN);
    EXPECT_TRUE(std::isnan(load_element(dtype, &space, 0)));
    store_element(dtype, &space, 0, -INFINITY);
    EXPECT_EQ(load_element(dtype, &space, 0), -INFINITY);
    store_element(dtype, &space, 0, -0.0);
    EXPECT_TRUE(std::signbit(load_element(dtype, &space, 0)));
  }
  std::uint8_t flag = 9;
  EXPECT_EQ(load_element(DType::boolean, &flag, 0), 1);
  store_element(DType::boolean, &flag, 0, -0.5);
  EXPECT_EQ(flag, 1);
}

TEST(StoreElement, TruncatesToIntegers) {
  std::int64_t wide = 0;
  store_element(DType::i64, &wide, 0, -2.9);
  EXPECT_EQ(wide, -2);
  std::int32_t narrow = 0;
  store_element(DType::i32, &narrow, 0, 2.9);
  EXPECT_EQ(narrow, 2);
}

}  // namespace
}  // namespace kerf
