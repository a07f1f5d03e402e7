#include "export/proof/proof.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.hpp"
#include "report/fixture_run.hpp"

namespace kerf::exporting {
namespace {

namespace fs = std::filesystem;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

class ProofTest : public testing::Test {
 protected:
  ProofTest() {
    std::string pattern = (fs::temp_directory_path() / "kerf-proof-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    bundle_ = root_ / "proof";
    EXPECT_TRUE(report::write_fixture_run(root_ / "run", {"cpu", 30, 1, true, true}));
    run_ = load_run(root_ / "run").value();
    files_ = proof_files(proof_of(run_, run_.best).value());
    for (const auto& file : files_) EXPECT_TRUE(write_file_atomic(bundle_ / file.path, file.text));
  }
  ~ProofTest() override { fs::remove_all(root_); }

  std::string refusal() const {
    const auto read = read_proof(bundle_);
    return read ? "accepted" : read.error().message;
  }

  fs::path root_, bundle_;
  RunView run_;
  std::vector<File> files_;
};

TEST_F(ProofTest, ABundleReadsBackAsItWasWritten) {
  const auto read = read_proof(bundle_);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->id, proof_id(files_));
  EXPECT_EQ(read->proof.kernel_source, run_.step(run_.best).source);
  EXPECT_EQ(read->proof.task_source, report::fixture_task());
  EXPECT_EQ(read->proof.step, run_.best);
  EXPECT_EQ(to_json(read->proof.evaluation), to_json(run_.step(run_.best).evaluation));
}

TEST_F(ProofTest, EveryChangedFileIsNamed) {
  for (const auto& file : files_) {
    if (file.path == "manifest.sha256") continue;
    std::ofstream(bundle_ / file.path, std::ios::app) << " ";
    EXPECT_HAS(refusal(), file.path + " was changed");
    ASSERT_TRUE(write_file_atomic(bundle_ / file.path, file.text));
  }
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(ProofTest, MissingAndAddedFilesAreNamed) {
  fs::remove(bundle_ / "kernel.cpp");
  std::ofstream(bundle_ / "task" / "extra.cpp") << "x";
  EXPECT_HAS(refusal(), "kernel.cpp is missing");
  EXPECT_HAS(refusal(), "task/extra.cpp was added");
}

TEST_F(ProofTest, AKernelThatTheClaimIsNotAboutIsFoundEvenWithAFreshManifest) {
  Proof proof = proof_of(run_, run_.best).value();
  proof.kernel_source += "// faster\n";
  for (const auto& file : proof_files(proof)) ASSERT_TRUE(write_file_atomic(bundle_ / file.path, file.text));
  EXPECT_HAS(refusal(), "kernel.cpp is not the kernel that the claim is about");
}

TEST_F(ProofTest, ABrokenManifestOrNoneIsRefused) {
  ASSERT_TRUE(write_file_atomic(bundle_ / "manifest.sha256", "nonsense\n"));
  EXPECT_HAS(refusal(), "manifest.sha256 was tampered with");
  ASSERT_TRUE(write_file_atomic(bundle_ / "manifest.sha256", ""));
  EXPECT_HAS(refusal(), "claim.json was added");
  fs::remove(bundle_ / "manifest.sha256");
  EXPECT_HAS(refusal(), "is no proof bundle");
}

TEST_F(ProofTest, FilesThatTheTaskNamesAreInTheBundle) {
  Proof proof = proof_of(run_, run_.best).value();
  proof.task_files = R"({"ref/a.cpp": "template"})";
  for (const auto& file : proof_files(proof)) ASSERT_TRUE(write_file_atomic(bundle_ / file.path, file.text));
  const auto read = read_proof(bundle_);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->proof.task_files, R"({"ref/a.cpp":"template"})");
  run_.facts["task_files"] = R"({"../secret": "x"})";
  EXPECT_FALSE(proof_of(run_, run_.best));
}

TEST(Comparison, HoldsWhenTheNewIntervalReachesTheClaim) {
  Evaluation claimed, fresh;
  claimed.device = fresh.device = "d";
  Measurement then, now;
  then.speedup = {"naive", 4.0, 3.8, 4.2};
  now.speedup = {"naive", 3.7, 3.6, 3.75};
  claimed.outcome = then;
  fresh.outcome = now;
  EXPECT_FALSE(compare(claimed, fresh, 0).holds());
  EXPECT_TRUE(compare(claimed, fresh, 0.03).holds());
  fresh.device = "other";
  const auto elsewhere = compare(claimed, fresh, 0);
  EXPECT_TRUE(elsewhere.holds());
  EXPECT_FALSE(elsewhere.same_device);
  EXPECT_HAS(elsewhere.remarks.at(0), "cannot be compared");
  fresh.outcome = WrongResult{Gate::values, "", std::nullopt};
  EXPECT_FALSE(compare(claimed, fresh, 0.03).holds());
}

TEST(Comparison, IsOverTheBaselineOfTheClaim) {
  Evaluation claimed, fresh;
  Measurement then, now;
  then.speedup = {"naive", 4.0, 3.8, 4.2};
  now.speedup = {"mine", 1.1, 1.0, 1.2};
  now.shapes = {{"a", 1, {}, {}, {{"naive", {"naive", 4, 3.9, 4.1}}}, std::nullopt},
                {"b", 1, {}, {}, {{"naive", {"naive", 9, 8.9, 9.1}}}, std::nullopt}};
  claimed.outcome = then;
  fresh.outcome = now;
  EXPECT_NEAR(compare(claimed, fresh, 0).found.ratio, 6, 1e-9);
  now.shapes[1].speedups.clear();
  fresh.outcome = now;
  EXPECT_FALSE(compare(claimed, fresh, 0).as_fast);
}

}  // namespace
}  // namespace kerf::exporting
