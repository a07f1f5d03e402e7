#include "judge/tunables.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

const char* const kSource = "/* kerf\ntarget: cpu\ntune: BLOCK = {128, 256}\ntune: VEC = {1, 2, 4}\n*/\n";

TEST(Tunables, WhatIsNotGivenHasItsDefault) {
  const Candidate candidate = parse_candidate("k.cpp", kSource).value();
  EXPECT_EQ(resolve_tunables(candidate, {{"VEC", 4}}).value(), (Bindings{{"BLOCK", 128}, {"VEC", 4}}));
}

TEST(Tunables, AnUnknownNameIsRefusedWithTheNamesThereAre) {
  const Candidate candidate = parse_candidate("k.cpp", kSource).value();
  const auto resolved = resolve_tunables(candidate, {{"BLOK", 128}});
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().message, "k.cpp has no tunable 'BLOK' (did you mean 'BLOCK'?); choose one of: BLOCK, VEC");
}

TEST(Tunables, AValueThatIsNotDeclaredIsRefusedUnlessTheCallerAllowsIt) {
  const Candidate candidate = parse_candidate("k.cpp", kSource).value();
  const auto resolved = resolve_tunables(candidate, {{"VEC", 3}});
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().code, Errc::invalid_input);
  EXPECT_EQ(resolved.error().message, "k.cpp: tunable 'VEC' has no value 3 (the nearest is 2); choose one of: 1, 2, 4");
  EXPECT_EQ(resolve_tunables(candidate, {{"VEC", 3}}, TunableValues::any).value().at("VEC"), 3);
}

}  // namespace
}  // namespace kerf
