#include "propose/synth/template.hpp"

#include <gtest/gtest.h>

namespace kerf::synth {
namespace {

std::optional<std::string> known(std::string_view name) {
  if (name == "M") return "512";
  if (name == "YES") return "1";
  if (name == "NO") return "0";
  if (name == "NESTED") return "$M + 1";
  if (name == "LOOP") return "$LOOP";
  return {};
}

std::string expanded(std::string_view text, const std::set<std::string>& taken = {}) {
  const auto result = expand("file", text, known, taken);
  return result ? *result : "error: " + result.error().message;
}

TEST(Template, ReplacesNamesAndNamesWithinValues) { EXPECT_EQ(expanded("a[$M] = $NESTED;"), "a[512] = 512 + 1;\n"); }

TEST(Template, ChoosesLinesByFlags) {
  EXPECT_EQ(expanded("%if $YES\na\n%else\nb\n%endif"), "a\n");
  EXPECT_EQ(expanded("%if $YES && !$NO\na\n%if $NO\nb\n%endif\n%endif\nc"), "a\nc\n");
  EXPECT_EQ(expanded("%if $NO\n%if $YES\na\n%else\nb\n%endif\n%endif\nc"), "c\n");
}

TEST(Template, DoesNotLookUpNamesInLinesThatAreLeftOut) { EXPECT_EQ(expanded("%if $NO\n$UNKNOWN\n%endif\nc"), "c\n"); }

TEST(Template, RenamesWhatTheTaskHasTaken) {
  EXPECT_EQ(expanded("int rows = v.rows + row; // \"rows\"", {"rows"}), "int rows_t = v.rows + row; // \"rows\"\n");
}

TEST(Template, NamesFileAndLineOfMistakes) {
  EXPECT_EQ(expanded("a\n$WRONG"), "error: file:2: nothing is known as $WRONG");
  EXPECT_EQ(expanded("%if $M\n%endif"), "error: file:1: '$M' is '512', not 0 or 1");
  EXPECT_EQ(expanded("%if $YES\na"), "error: file: %if without %endif");
  EXPECT_EQ(expanded("%else"), "error: file:1: %else without %if");
  EXPECT_NE(expanded("$LOOP").find("refer to each other"), std::string::npos);
}

}  // namespace
}  // namespace kerf::synth
