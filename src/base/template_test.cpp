#include "base/template.hpp"

#include <gtest/gtest.h>

namespace kerf::templates {
namespace {

std::optional<Value> known(std::string_view name) {
  if (name == "M") return "512";
  if (name == "YES") return "1";
  if (name == "NO") return "0";
  if (name == "KIND") return "sum";
  if (name == "EMPTY") return "";
  if (name == "NESTED") return "$M + 1";
  if (name == "LOOP") return "$LOOP";
  if (name == "LINES") return "if (x) {\n  y;\n}\n";
  if (name == "PASSES")
    return List{Record{{"op", "+"}, {"reads", List{"a", "b"}}}, Record{{"op", "*"}, {"reads", List{}}}};
  if (name == "ROW") return Record{{"finish", Record{{"term", "t"}}}};
  return {};
}

std::string expanded(std::string_view text) {
  const auto files = [](std::string_view file) -> Result<std::string> {
    if (file == "part.in") return "one $M\n  two\n%if $YES\nthree\n%endif\n";
    if (file == "loop.in") return "%include \"loop.in\"\n";
    if (file == "wrong.in") return "a\n$WRONG\n";
    return fail(Errc::not_found, "there is no such file");
  };
  const auto result = expand("file", text, {known, files, true});
  return result ? *result : "error: " + result.error().message;
}

TEST(Template, ReplacesNamesAndNamesWithinValues) {
  EXPECT_EQ(expanded("a[$M] = $NESTED; ${M}x $$M"), "a[512] = 512 + 1; 512x $M\n");
}

TEST(Template, LeavesNamesWithinValuesAloneUnlessAsked) {
  const auto plain = expand("file", "$NESTED", {known, {}, false});
  ASSERT_TRUE(plain);
  EXPECT_EQ(*plain, "$M + 1\n");
}

TEST(Template, ChoosesLinesByConditions) {
  EXPECT_EQ(expanded("%if $YES\na\n%else\nb\n%endif"), "a\n");
  EXPECT_EQ(expanded("%if $YES && !$NO\na\n%if $NO\nb\n%endif\n%endif\nc"), "a\nc\n");
  EXPECT_EQ(expanded("%if $NO\n%if $YES\na\n%else\nb\n%endif\n%endif\nc"), "c\n");
  EXPECT_EQ(expanded("%if $NO || $KIND == sum\na\n%endif"), "a\n");
  EXPECT_EQ(expanded("%if $NO\na\n%elif $KIND == max\nb\n%elif $KIND != max\nc\n%else\nd\n%endif\ne"), "c\ne\n");
  EXPECT_EQ(expanded("%if $EMPTY == \"\"\na\n%endif"), "a\n");
  EXPECT_EQ(expanded("%if $PASSES\na\n%endif"), "a\n");
}

TEST(Template, DoesNotLookUpNamesInLinesThatAreLeftOut) {
  EXPECT_EQ(expanded("%if $NO\n$UNKNOWN\n%endif\nc"), "c\n");
  EXPECT_EQ(expanded("%if $NO && $UNKNOWN\nb\n%endif\nc"), "c\n");
}

TEST(Template, LoopsOverListsAndTheirFields) {
  EXPECT_EQ(expanded("%for p in $PASSES\na$p.index $p.op\n%for r in $p.reads\n  ${r.text}_\n%endfor\n%endfor"),
            "a0 +\n  a_\n  b_\na1 *\n");
  EXPECT_EQ(expanded("%for p in $PASSES\n%if !$p.first\n,\n%endif\n$p.op\n%endfor"), "+\n,\n*\n");
}

TEST(Template, NamesValuesOfAnyKind) {
  EXPECT_EQ(expanded("%let row = $ROW\n%let at = i * $M\n$row.finish.term[$at]"), "t[i * 512]\n");
  EXPECT_EQ(expanded("%if $YES\n%let at = 1\n%endif\n$at\n%let at = 2\n$at"), "1\n2\n");
  EXPECT_EQ(expanded("%let at = 1\n%for p in $PASSES\n%let at = $p.op\n%endfor\n$at"), "1\n");
}

TEST(Template, IndentsIncludedFilesAndLongValues) {
  EXPECT_EQ(expanded("{\n  %include \"part.in\"\n}"), "{\n  one 512\n    two\n  three\n}\n");
  EXPECT_EQ(expanded("{\n  $LINES\n}"), "{\n  if (x) {\n    y;\n  }\n}\n");
  EXPECT_EQ(expanded("a\n  $EMPTY\nb"), "a\nb\n");
}

TEST(Template, NamesFileAndLineOfMistakes) {
  EXPECT_EQ(expanded("a\n$WRONG"), "error: file:2: nothing is known as $WRONG");
  EXPECT_EQ(expanded("%if $M\n%endif"), "error: file:1: '$M' is '512', not 0 or 1");
  EXPECT_EQ(expanded("b\n%if $YES\na"), "error: file:2: %if has no end");
  EXPECT_EQ(expanded("%else"), "error: file:1: %else without %if or %for");
  EXPECT_EQ(expanded("%for a in $PASSES\n%endif"), "error: file:2: %endif where %endfor of line 1 is missing");
  EXPECT_EQ(expanded("%for a $PASSES\n%endfor"), "error: file:1: a loop reads '%for item in $LIST'");
  EXPECT_EQ(expanded("%for a in $M\n%endfor"), "error: file:1: $M is not a list");
  EXPECT_EQ(expanded("%for p in $PASSES\n$p.oq\n%endfor"),
            "error: file:2: $p has no field 'oq' (did you mean 'op'?); it has first, index, last, op, reads");
  EXPECT_EQ(expanded("$ROW"), "error: file:1: $ROW is a record, not a text");
  EXPECT_EQ(expanded("%include \"wrong.in\""), "error: wrong.in:2: nothing is known as $WRONG (included at file:1)");
  EXPECT_EQ(expanded("\n%include \"none.in\""), "error: file:2: there is no such file");
  EXPECT_NE(expanded("%include \"loop.in\"").find("include each other"), std::string::npos);
  EXPECT_NE(expanded("$LOOP").find("refer to each other"), std::string::npos);
}

TEST(Template, OfTheProgramIsFilledFromARecordAndValuesAreNotSearched) {
  Record values;
  values["NAME"] = "$SETS @@NAME@@";
  List sets;
  for (const char* id : {"a", "b"}) {
    Record set;
    set["id"] = id;
    sets.emplace_back(std::move(set));
  }
  values["SETS"] = std::move(sets);
  const Files files = [](std::string_view) { return std::string("$NAME\n"); };
  EXPECT_EQ(fill("t", "%for set in $SETS\n${set.id}: $$\n%endfor\n%include \"x\"\n", values, files),
            "a: $\nb: $\n$SETS @@NAME@@\n");
}

}  // namespace
}  // namespace kerf::templates
