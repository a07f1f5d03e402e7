#include "language/opencl_c/source_text.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "language/opencl_c/bitcode_facts.hpp"

namespace kerf::opencl {
namespace {

using Words = std::vector<std::string>;

TEST(Constants, AreEnumeratorsThatLocalsMayHide) {
  EXPECT_EQ(with_constants("X", {{"rows", 4096}}), "enum { rows = 4096 };\n#line 1 \"kernel.cl\"\nX");
}

TEST(Constants, BeyondIntAreMacros) {
  EXPECT_EQ(with_constants("", {{"n", 5000000000}}), "#define n (5000000000L)\n#line 1 \"kernel.cl\"\n");
}

TEST(Constants, NamedLikeBuiltInFunctionsCanBeHiddenByLocals) {
  EXPECT_EQ(with_constants("", {{"length", 7}}),
            "#undef length\nenum { kerf_constant_length = 7 };\n#define length kerf_constant_length\n"
            "#line 1 \"kernel.cl\"\n");
}

TEST(ForbiddenWords, InlineAssemblyIsFoundInEverySpelling) {
  for (const char* word : {"asm", "__asm", "__asm__"}) {
    EXPECT_EQ(forbidden_words(std::string(word) + " volatile(\"nop\");"), Words{"inline assembly"}) << word;
  }
}

TEST(ForbiddenWords, SplicedWordsAreFound) {
  EXPECT_EQ(forbidden_words("as\\\nm(\"nop\");"), Words{"inline assembly"});
}

TEST(ForbiddenWords, CommentsAndStringsAreNotCode) {
  EXPECT_EQ(forbidden_words("// asm\n/* printf */ \"asm\" 'a' int asmara = 1;"), Words{});
}

TEST(ForbiddenWords, PrintfAndIncludesAreFound) {
  EXPECT_EQ(forbidden_words("  # include <x>\nvoid f() { printf(1); }"), (Words{"#include", "printf"}));
}

TEST(ForbiddenWords, IncludesAreFoundInEverySpelling) {
  for (const char* source : {"%:include <x>", "?\?=include <x>", "#inc\\\nlude <x>", "#inc?\?/\nlude <x>",
                             "#include_next <x>", "#import <x>", "/* a\n */ # /* b */ include <x>", "#/**/include <x>"})
    EXPECT_EQ(forbidden_words(source), Words{"#include"}) << source;
  EXPECT_EQ(forbidden_words("int include; // #include <x>\n\"\\\n#include\";"), Words{});
}

TEST(Log, ShowsTheCandidatesLineWithoutTemporaryPaths) {
  const std::string source = "first\n  int x = y;\n";
  const std::string log =
      "error: /tmp/cache/tempfile_x1.cl:2:11: use of y\nerror: kernel.cl:2:11: use of undeclared identifier 'y'\n"
      "Device pthread-x failed to build the program\n";
  EXPECT_EQ(readable_log(log, source),
            "kernel.cl:2:11: error: use of y\n    int x = y;\n            ^\n"
            "kernel.cl:2:11: error: use of undeclared identifier 'y'\n    int x = y;\n            ^");
}

TEST(Log, LinesAreCountedFromTheCandidateWhereTheDriverIgnoresTheNumbering) {
  const auto text = readable_log("<kernel>:5:3: error: words\n  int x;\n  ^\n", "a\n  int x;\n", 3);
  EXPECT_EQ(text, "kernel.cl:2:3: error: words\n  int x;\n  ^");
}

TEST(Log, IsCut) {
  EXPECT_LE(readable_log(std::string(100000, 'x') + "\n" + std::string(100000, '\n'), "").size(), 16u << 10);
}

TEST(Ptx, WritableGlobalsAndImportsAreFoundTablesAreNot) {
  const auto facts = read_ptx_facts(
      ".version 7.8\n.target sm_90\n.const .align 4 .u32 c = 3;\n.global .align 4 .u32 counter;\n"
      ".global .align 4 .b8 __cudart_i2opi_f[24] = {65, 144};\n.global .align 8 .b8 cache[4096];\n"
      ".extern .func  (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 vprintf_param_0\n)\n;\n"
      ".func  (.param .b64 func_retval0) malloc\n(\n\t.param .b64 malloc_param_0\n)\n;\n"
      ".func helper(\n)\n;\n.func helper(\n)\n{\n\tld.global.f32 %f1, [%r1];\n}\n");
  EXPECT_EQ(facts.writable_globals, (Words{"counter", "cache"}));
  EXPECT_EQ(facts.forbidden_symbols, (Words{"malloc", "printf"}));
}

}  // namespace
}  // namespace kerf::opencl
