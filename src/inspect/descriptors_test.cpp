#include "inspect/descriptors.hpp"

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/rng.hpp"

namespace kerf {
namespace {

constexpr const char* kPtx =
    ".version 8.0\n.target sm_90\n.visible .entry k(\n)\n{\n\tld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];\n\tret;\n}\n";

Artifact shared_object() {
  Artifact artifact;
  artifact.bytes = read_file(KERF_ELF_SAMPLE).value();
  return artifact;
}

TEST(Describe, ReadsWhatTheArtifactsKindSaysItIs) {
  Artifact artifact = shared_object();
  EXPECT_EQ(describe(artifact, {}, {}).from, "object code");
  artifact.kind = ArtifactKind::opencl_binary;  // drivers on CPUs give out shared objects with code of their own around
  EXPECT_EQ(describe(artifact, {}, {}).from, "source tokens");
  artifact.disassembly_hint = kPtx;
  for (const ArtifactKind kind : {ArtifactKind::cubin, ArtifactKind::opencl_ptx}) {
    artifact.kind = kind;
    const Descriptors found = describe(artifact, {}, {});
    EXPECT_EQ(found.from, "PTX");
    EXPECT_EQ(found.cell.at(0), 1);
  }
  artifact.kind = ArtifactKind::shared_object;
  EXPECT_EQ(describe(artifact, {}, {}).from, "object code");
}

TEST(Describe, FallsBackToTheSourceWhereNothingElseCanBeRead) {
  Artifact artifact;
  for (const ArtifactKind kind : {ArtifactKind::shared_object, ArtifactKind::cubin, ArtifactKind::opencl_ptx}) {
    artifact.kind = kind;
    EXPECT_EQ(describe(artifact, {}, {}).from, "source tokens");
  }
}

TEST(Describe, SurvivesDamagedObjects) {
  const Artifact whole = shared_object();
  Rng rng(9);
  const auto last = static_cast<std::int64_t>(whole.bytes.size()) - 1;
  for (int round = 0; round < 300; ++round) {
    Artifact artifact = whole;
    for (auto left = rng.integer(1, 30); left > 0; --left)
      artifact.bytes[static_cast<std::size_t>(rng.integer(0, last))] = static_cast<char>(rng.integer(0, 255));
    (void)describe(artifact, {}, {});
  }
}

TEST(Describe, ReadsTokensAsACompilerWould) {
  Candidate candidate;
  candidate.source = R"cl(#define LOADS(p) vload4(0, p)
#if 0
kernel void kerf_kernel() { barrier(CLK_LOCAL_MEM_FENCE); }
#else
// barrier(1) "
kernel void kerf_kernel() { const char* s = "atomic_add(x)";
  x = LOA\
DS(x);
}
#endif
)cl";
  Artifact artifact;
  artifact.kind = ArtifactKind::opencl_binary;
  const Descriptors found = describe(artifact, candidate, {});
  EXPECT_EQ(found.seen.at("vector_words"), 1);
  EXPECT_EQ(found.cell, (Cell{1, 0, 0}));
}

}  // namespace
}  // namespace kerf
