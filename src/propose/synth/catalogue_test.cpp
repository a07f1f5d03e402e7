#include "propose/synth/catalogue.hpp"

#include <gtest/gtest.h>

#include "codegen/dialects/dialects.hpp"
#include "propose/synth/capabilities.hpp"

namespace kerf::synth {
namespace {

std::string complaint(const std::string& line) {
  const auto read = read_manifest(
      "direct", "[[variant]]\nname = \"a\"\nfile = \"loop.cpp.in\"\n" + line + "\nlaunch = [\"$main($args)\"]\n");
  return read ? "" : read.error().message;
}

TEST(Catalogue, ReadsEveryManifest) {
  const auto variants = load_catalogue();
  ASSERT_TRUE(variants) << variants.error().message;
  EXPECT_GT(variants->size(), 40u);
  for (const Variant& variant : *variants)
    for (const Tunable& tunable : variant.tunables)
      EXPECT_GT(tunable.values.size(), 1u) << variant.family << "/" << variant.name << ": " << tunable.name
                                           << " has one value, so it belongs into define";
}

TEST(Catalogue, NamesTheNearestKnownWord) {
  EXPECT_EQ(complaint("languages = [\"cpp\"]"), "");
  EXPECT_NE(complaint("languages = [\"opencl\"]").find("unknown language 'opencl' (did you mean 'opencl_c'?)"),
            std::string::npos);
  EXPECT_NE(complaint("languages = [\"cpp\"]\nneeds = [\"!runs_on_hosts\"]").find("did you mean 'runs_on_host'?"),
            std::string::npos);
  EXPECT_NE(complaint("languages = [\"cpp\"]\ntargets = [\"cpu\"]").find("unknown key 'targets'"), std::string::npos);
  EXPECT_NE(complaint("languages = [\"cpp\"]\ndefine = { A = [1] }").find("A must be an integer"), std::string::npos);
  EXPECT_NE(complaint("").find("needs languages"), std::string::npos);
  EXPECT_NE(complaint("languages = [\"cpp\"]\npadded = [\"64\"]").find("'padded' must be two expressions"),
            std::string::npos);
}

TEST(Capabilities, FollowFromTheLanguageAndWhatTheDeviceLacks) {
  const auto& cpp = codegen::dialects::cpp;
  const auto& opencl = codegen::dialects::opencl_c;
  const auto& cuda = codegen::dialects::cuda_cpp;
  DeviceFacts facts;
  EXPECT_TRUE(meets(cpp, facts, {"runs_on_host", "!sub_groups"}));
  EXPECT_TRUE(meets(opencl, facts, {"!runs_on_host", "!matrix_units"}));
  EXPECT_TRUE(meets(cuda, facts, {"matrix_units", "async_copy", "sub_groups"}));
  facts.lacks = {"matrix_units"};
  EXPECT_FALSE(meets(cuda, facts, {"matrix_units"}));
  facts.runs_on_host = true;
  EXPECT_TRUE(meets(opencl, facts, {"runs_on_host"}));
}

}  // namespace
}  // namespace kerf::synth
