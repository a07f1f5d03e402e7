#include "target/target.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/test_paths.hpp"
#include "codegen/dialects/dialects.hpp"

namespace kerf {
namespace {

TEST(Targets, AreDescribedInFull) {
  std::set<std::string> names;
  for (const TargetDescription& target : target_descriptions()) {
    EXPECT_TRUE(names.insert(target.name).second) << target.name << " is there twice";
    EXPECT_FALSE(target.help.empty()) << target.name;
    EXPECT_TRUE(target.file_extension.starts_with('.')) << target.name;
    EXPECT_FALSE(target.device_kind.empty()) << target.name;
    ASSERT_NE(target.dialect, nullptr) << target.name;
    EXPECT_NE(std::find(codegen::dialects::kAll.begin(), codegen::dialects::kAll.end(), target.dialect),
              codegen::dialects::kAll.end())
        << target.name;
    EXPECT_EQ(find_target(target.name)->name, target.name);
    EXPECT_EQ(target_extension(target.name), target.file_extension);
  }
  EXPECT_EQ(default_target(), target_names().front());
}

TEST(Targets, TheFirstOfALanguageHasItsExtension) {
  for (const TargetDescription& target : target_descriptions()) {
    const TargetDescription* first = find_target(target_for_extension(target.file_extension));
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->file_extension, target.file_extension);
  }
  EXPECT_EQ(target_for_extension(".f90"), "");
  EXPECT_EQ(target_extension("abacus"), ".txt");
  EXPECT_EQ(find_target("abacus"), nullptr);
}

/// Files in a folder of the tree whose names begin so.
int files_in(const std::filesystem::path& folder, const std::string& prefix) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / folder))
    count += static_cast<int>(entry.is_regular_file() && entry.path().filename().string().starts_with(prefix));
  return count;
}

TEST(Targets, WithBuiltinKernelsHaveKnowledgeAndCases) {
  int covered = 0;
  for (const TargetDescription& target : target_descriptions()) {
    if (target.dialect->layer.empty()) continue;  // no builtin kernel is written in its language
    ++covered;
    EXPECT_GT(files_in("knowledge/" + target.name, ""), 0) << target.name;
    EXPECT_GE(files_in("tests/cases", "hostile_" + target.name + "_"), 60) << target.name;
    EXPECT_GE(files_in("tests/cases", "honest_" + target.name + "_"), 20) << target.name;
    EXPECT_GE(files_in("tests/cases", target.name + "_"), 2) << target.name;
  }
  EXPECT_GE(covered, 3);
}

TEST(Targets, AnUnknownNameIsToldWithTheKnownOnes) {
  const auto refused = check_target_name(default_target() + "x");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("did you mean '" + default_target() + "'"), std::string::npos);
  EXPECT_NE(refused.error().message.find("choose one of: " + default_target()), std::string::npos);
  EXPECT_FALSE(make_target("abacus", {}));
}

TEST(Targets, ReadTheVariablesTheyName) {
  EXPECT_TRUE(is_target_variable("CUDA_HOME"));
  EXPECT_TRUE(is_target_variable("OPENCL_VENDOR_PATH"));
  EXPECT_FALSE(is_target_variable("OPENCL_VENDOR_PATHS"));
  EXPECT_FALSE(is_target_variable("AWS_SECRET_ACCESS_KEY"));
}

TEST(Targets, OneRunsReferencesInCpp) {
  const TargetDescription* target = find_target(cpp_reference_target());
  ASSERT_NE(target, nullptr);
  EXPECT_TRUE(target->runs_cpp_references);
}

}  // namespace
}  // namespace kerf
