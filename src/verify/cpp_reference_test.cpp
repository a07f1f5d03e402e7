#include "verify/cpp_reference.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kerf {
namespace {

TEST(WidenBounds, OneBadElementWidensItsOwnBoundOnly) {
  std::vector<double> bounds(1000, 1e-7), errors(1000, 0.5e-7);
  errors[17] = 1e-2;
  widen_bounds(bounds, errors);
  EXPECT_EQ(bounds[17], 1e-2);
  for (const std::size_t i : {0U, 16U, 18U, 999U}) EXPECT_EQ(bounds[i], 1e-7);
}

TEST(WidenBounds, ARegionWhereTheFloatVersionIsBadWidensNoOther) {
  // As log(1 + x * x) in f32: near zero the value and its bound are tiny, the error is that of the one.
  std::vector<double> bounds, errors;
  for (int i = 0; i < 500; ++i) bounds.push_back(1e-7), errors.push_back(0.6e-7);
  for (int i = 0; i < 500; ++i) bounds.push_back(1e-12), errors.push_back(6e-8);
  widen_bounds(bounds, errors);
  EXPECT_EQ(bounds[0], 1e-7);
  EXPECT_EQ(bounds[999], 6e-8);
}

TEST(WidenBounds, WhatMostElementsNeedIsGrantedToTheirLikes) {
  std::vector<double> bounds(1000, 1e-7), errors(1000, 3e-7);
  errors[5] = 0;
  widen_bounds(bounds, errors);
  EXPECT_DOUBLE_EQ(bounds[5], 3e-7) << "a lucky element is not held to its luck";
}

TEST(WidenBounds, ErrorsThatAreNotFiniteSayNothing) {
  std::vector<double> bounds(4, 1e-7), errors(4, std::numeric_limits<double>::infinity());
  widen_bounds(bounds, errors);
  for (const double bound : bounds) EXPECT_EQ(bound, 1e-7);
}

}  // namespace
}  // namespace kerf
