#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "export/proof/bundle.hpp"
#include "export/proof/proof.hpp"
#include "report/fixture_run.hpp"

namespace kerf::exporting {
namespace {

namespace fs = std::filesystem;

class WriteProof : public testing::Test {
 protected:
  WriteProof() {
    std::string pattern = (fs::temp_directory_path() / "kerf-write-proof-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    EXPECT_TRUE(report::write_fixture_run(root_ / "run", {"cpu", 30, 1, true, true}));
    const RunView run = load_run(root_ / "run").value();
    proof_ = proof_of(run, run.best).value();
  }
  ~WriteProof() override { fs::remove_all(root_); }

  std::string refusal(const fs::path& folder) const {
    const Status written = write_proof(folder, proof_files(proof_));
    return written ? "written" : written.error().message;
  }

  fs::path root_;
  Proof proof_;
};

TEST_F(WriteProof, AnOlderBundleIsReplacedAndNothingOfItIsLeft) {
  ASSERT_TRUE(report::write_fixture_run(root_ / "other", {"opencl", 30, 1, true, true}));
  const RunView other = load_run(root_ / "other").value();
  const fs::path folder = root_ / "proof";
  ASSERT_TRUE(write_proof(folder, proof_files(proof_of(other, other.best).value())));
  ASSERT_TRUE(fs::exists(folder / "kernel.cl"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(refusal(folder), "written");
    const auto read = read_proof(folder);
    EXPECT_TRUE(read) << read.error().message;
  }
  EXPECT_FALSE(fs::exists(folder / "kernel.cl"));
}

TEST_F(WriteProof, WhatIsNotAWholeBundleStays) {
  const fs::path folder = root_ / "proof";
  ASSERT_EQ(refusal(folder), "written");
  std::ofstream(folder / "notes.txt") << "mine";
  EXPECT_NE(refusal(folder).find("notes.txt was added"), std::string::npos) << refusal(folder);
  EXPECT_EQ(*read_file(folder / "notes.txt"), "mine");
  fs::remove(folder / "notes.txt");
  std::ofstream(folder / "PROOF.md", std::ios::app) << "my remarks";
  EXPECT_NE(refusal(folder).find("PROOF.md was changed"), std::string::npos) << refusal(folder);
  std::ofstream(root_ / "file") << "mine";
  EXPECT_NE(refusal(root_ / "file").find("is not a folder"), std::string::npos) << refusal(root_ / "file");
  fs::remove_all(folder);
  ASSERT_TRUE(write_file_atomic(folder / "claim.json", R"({"kerf_version": "1", "evaluation": {}})"));
  ASSERT_TRUE(write_file_atomic(folder / "thesis.tex", "mine"));
  std::string manifest;
  for (const char* name : {"claim.json", "thesis.tex"})
    manifest += sha256_hex(*read_file(folder / name)) + "  " + name + "\n";
  ASSERT_TRUE(write_file_atomic(folder / kManifest, manifest));
  EXPECT_NE(refusal(folder).find("thesis.tex is no file of a bundle"), std::string::npos) << refusal(folder);
  EXPECT_NE(refusal(root_ / "run").find("is not a whole proof bundle"), std::string::npos);
}

TEST_F(WriteProof, AnOlderBundleStaysWhenTheNewOneCannotBeWritten) {
  const fs::path folder = root_ / "proof";
  ASSERT_EQ(refusal(folder), "written");
  std::vector<File> files = proof_files(proof_);
  files.push_back({"claim.json/below-a-file", "x"});
  EXPECT_FALSE(write_proof(folder, files));
  const auto read = read_proof(folder);
  EXPECT_TRUE(read) << read.error().message;
}

}  // namespace
}  // namespace kerf::exporting
