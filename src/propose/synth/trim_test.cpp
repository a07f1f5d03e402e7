#include "propose/synth/trim.hpp"

#include <gtest/gtest.h>

#include "propose/synth/catalogue.hpp"

namespace kerf::synth {
namespace {

constexpr const char* kLayer = R"(// The layer.

#include <cmath>

typedef long index_t;
#define TWICE(x) ((x) + (x))
#define LONG(x) \
  (x)

// Nothing of this heading is used.

// Adds one.
static inline __attribute__((always_inline)) float add_one(float x) {
  return x + 1;
}
// Uses another.
template <int W>
static float add_two(float x) { return add_one(add_one(x)); }
template <int W>
struct vec_of {
  typedef float type[W];
};

// Roots.

#if defined(FAST)
static float root(float x);
#else
static float root(float x) { return 1; }
#endif
)";

TEST(UsedPart, KeepsWhatIsUsedAndWhatThatUses) {
  const std::string text = used_part(kLayer, "y = add_two<3>(x);");
  EXPECT_NE(text.find("add_one(float x) {\n  return x + 1;\n}"), std::string::npos) << text;
  EXPECT_NE(text.find("// Adds one.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("template <int W>\nstatic float add_two"), std::string::npos) << text;
  for (const char* unused : {"index_t", "TWICE", "LONG", "vec_of"})
    EXPECT_EQ(text.find(unused), std::string::npos) << text;
}

TEST(UsedPart, KeepsIncludesConditionsAndTheHeadingsOfWhatIsKept) {
  const std::string text = used_part(kLayer, "");
  EXPECT_TRUE(text.starts_with("// The layer.\n\n#include <cmath>\n")) << text;
  EXPECT_NE(text.find("// Roots.\n\n#if defined(FAST)"), std::string::npos) << text;
  EXPECT_EQ(text.find("heading"), std::string::npos) << text;
  EXPECT_NE(text.find("#endif"), std::string::npos) << text;
  EXPECT_EQ(text.find("add_one"), std::string::npos) << text;
}

TEST(UsedPart, IsNotMisledByBracketsInCommentsAndLiterals) {
  const std::string text = used_part(
      "/* a { */ static float open(float x) { return x; /* } */ }\n"
      "static char brace() { return '{'; }\n"
      "static const char* text() { return \"} // {\"; }\n"
      "static float last(float x) { return x; }\n",
      "last(open(x))");
  EXPECT_EQ(text,
            "/* a { */ static float open(float x) { return x; /* } */ }\nstatic float last(float x) { return x; }\n");
}

TEST(UsedPart, KnowsTypesMacrosAndContinuedLines) {
  const std::string text = used_part(kLayer, "index_t i = LONG(TWICE(1)); vec_of<4>::type v;");
  for (const char* used : {"typedef long index_t;", "#define TWICE", "#define LONG(x) \\\n  (x)", "struct vec_of {"})
    EXPECT_NE(text.find(used), std::string::npos) << used << "\n" << text;
}

// Names that are pasted together could not be found.
TEST(UsedPart, TheDialectsPasteNoNames) {
  for (const char* file : {"dialect/cpp.h", "dialect/opencl.h", "dialect/cuda.h", "dialect/math.h"}) {
    const auto text = built_in_file(file);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(text->find("##"), std::string_view::npos) << file;
    EXPECT_LT(used_part(*text, "").size(), text->size() / 2) << file;
  }
}

}  // namespace
}  // namespace kerf::synth
