#include "export/proof/proof.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.hpp"
#include "base/hash.hpp"
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

  void write(const Proof& proof) {
    fs::remove_all(bundle_);
    for (const auto& file : proof_files(proof)) ASSERT_TRUE(write_file_atomic(bundle_ / file.path, file.text));
  }
  void restore() { write(proof_of(run_, run_.best).value()); }
  /// A manifest of what is there, as a forger would write it.
  void list_again() {
    std::string manifest;
    for (const auto& entry : fs::recursive_directory_iterator(bundle_))
      if (entry.is_regular_file() && entry.path().filename() != "manifest.sha256")
        manifest += sha256_hex(read_file(entry.path()).value()) + "  " +
                    entry.path().lexically_relative(bundle_).string() + "\n";
    ASSERT_TRUE(write_file_atomic(bundle_ / "manifest.sha256", manifest));
  }
  void replace(const std::string& path, const std::string& from, const std::string& to) {
    std::string text = read_file(bundle_ / path).value();
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << path << ": " << from;
    ASSERT_TRUE(write_file_atomic(bundle_ / path, text.replace(at, from.size(), to)));
    list_again();
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

TEST_F(ProofTest, PagesAndClaimsThatSayMoreThanTheirDataAreRefused) {
  replace("PROOF.md", "times (95", "thousand times (95");
  EXPECT_HAS(refusal(), "PROOF.md is not what the claim's data give");
  restore();
  replace("PROOF.md", "## Check it again", "This claim was checked by an independent body.\n\n## Check it again");
  EXPECT_HAS(refusal(), "PROOF.md is not what the claim's data give");
  restore();
  replace("claim.json", "\"schema\": 2,", "\"schema\": 2, \"certified\": true,");
  EXPECT_HAS(refusal(), "claim.json is not what the claim's data give");
  restore();
  replace("claim.json", "\"step\":", "\"step\": 1,\n  \"step\":");
  EXPECT_HAS(refusal(), "claim.json is not what the claim's data give") << "a name twice";
  restore();
  replace("claim.json", "\"task\": \"rmsnorm\"", "\"task\": \"rmsnor\\u006d\"");
  EXPECT_HAS(refusal(), "claim.json is not what the claim's data give") << "the same in other characters";
  restore();
  replace("claim.json", "\"schema\": 2", "\"schema\": 1");
  EXPECT_HAS(refusal(), "write the proof again");
}

TEST_F(ProofTest, FiguresThatDoNotFollowFromEachOtherAreRefused) {
  const auto forged = [&](auto change) {
    Proof proof = proof_of(run_, run_.best).value();
    change(std::get<Measurement>(proof.evaluation.outcome));
    write(proof);
    return refusal();
  };
  EXPECT_HAS(forged([](Measurement& m) { m.speedup.ratio *= 2, m.speedup.low *= 2, m.speedup.high *= 2; }),
             "does not follow");
  EXPECT_HAS(forged([](Measurement& m) { m.speedup.low = 0.001; }), "does not follow");
  EXPECT_HAS(forged([](Measurement& m) { m.speedup.vs = "torch"; }), "does not follow");
  EXPECT_HAS(forged([](Measurement& m) { m.shapes[0].speedups.at("naive").ratio = -4; }), "does not follow");
  EXPECT_HAS(forged([](Measurement& m) { m.shapes.pop_back(); }), "not about the timed shapes");
  EXPECT_HAS(forged([](Measurement& m) { m.shapes[1].weight = 100; }), "not about the timed shapes");
  EXPECT_HAS(forged([](Measurement& m) { m.comparison = PairedComparison{1, 1, 9, 9, 9}; }), "not in the bundle");
  EXPECT_HAS(forged([](Measurement& m) { m.shapes.clear(); }), "no measurement");
}

TEST_F(ProofTest, ShapesMayBeInAnyOrder) {
  Proof proof = proof_of(run_, run_.best).value();
  auto& shapes = std::get<Measurement>(proof.evaluation.outcome).shapes;
  std::swap(shapes[0], shapes[1]);
  write(proof);
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(ProofTest, AnotherTaskOrTargetIsRefused) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"description", "precision = \"bf16\"\ndescription"},
           {"description", "special_values = false\ndescription"},
           {"cols = 1024", "cols = 512"},
           {"1e-6", "1e-5"},
           {"[shapes]", "[distributions]\nx = \"uniform(0, 1)\"\n[shapes]"}}) {
    replace("task/task.toml", from, to);
    EXPECT_HAS(refusal(), "task/task.toml is not the task that the claim is about");
    restore();
  }
  Proof proof = proof_of(run_, run_.best).value();
  proof.task_name = proof.evaluation.task = "softmax";
  write(proof);
  EXPECT_HAS(refusal(), "is not the task that the claim is about");
  restore();
  proof = proof_of(run_, run_.best).value();
  proof.evaluation.target = "opencl";
  write(proof);
  EXPECT_HAS(refusal(), "'kernel.cpp' is no name of a kernel for opencl");
}

TEST_F(ProofTest, FilesThatTheClaimDoesNotNeedAreRefusedEvenWhenTheyAreListed) {
  for (const char* path : {"task/helper.h", "NOTICE", "kernel.cu", "task/t\u0430sk.toml"}) {
    ASSERT_TRUE(write_file_atomic(bundle_ / path, "x"));
    list_again();
    EXPECT_HAS(refusal(), "does not belong to the claim") << path;
    fs::remove(bundle_ / path);
  }
}

TEST_F(ProofTest, NamesCannotForgeThePage) {
  run_.steps[static_cast<std::size_t>(run_.best) - 1].evaluation.device = "H200\n\n# Checked: holds\n\033[2J";
  const auto files = proof_files(proof_of(run_, run_.best).value());
  EXPECT_HAS(files[0].text, "measured on H200\\n\\n# Checked: holds\\n\\x1b[2J.");
}

TEST_F(ProofTest, FilesThatTheTaskNamesAreInTheBundle) {
  Proof proof = proof_of(run_, run_.best).value();
  proof.task_files = R"({"ref/a.cpp": "template"})";
  const auto files = proof_files(proof);
  EXPECT_EQ(files[files.size() - 2].path, "task/ref/a.cpp");
  run_.facts["task_files"] = R"({"../secret": "x"})";
  EXPECT_FALSE(proof_of(run_, run_.best));
}

Evaluation timed(const Speedup& speedup, std::vector<ShapeMeasurement> shapes = {}) {
  Evaluation evaluation;
  evaluation.device = "d";
  Measurement measurement;
  measurement.speedup = speedup;
  measurement.shapes = std::move(shapes);
  evaluation.outcome = measurement;
  return evaluation;
}

TEST(Comparison, HoldsWhenTheClaimedRatioLiesInTheIntervalFound) {
  const Evaluation claimed = timed({"naive", 4.0, 3.8, 4.2});
  EXPECT_TRUE(compare(claimed, timed({"naive", 3.9, 3.7, 4.1}), 0).holds());
  EXPECT_EQ(compare(claimed, timed({"naive", 3.7, 3.6, 3.9}), 0).speed, SpeedCheck::refuted)
      << "that the intervals meet is not enough";
  EXPECT_TRUE(compare(claimed, timed({"naive", 3.7, 3.6, 3.9}), 0.03).holds());
  EXPECT_EQ(compare(claimed, timed({"naive", 9, 8.8, 9.2}), 0.05).speed, SpeedCheck::refuted);
  EXPECT_EQ(compare(timed({"naive", 1e6, 1e-6, 1e6}), timed({"naive", 3.7, 3.6, 3.9}), 0.05).speed,
            SpeedCheck::refuted);
}

TEST(Comparison, OnAnotherDeviceOrWithANoisyTimingSpeedIsNotChecked) {
  const Evaluation claimed = timed({"naive", 4.0, 3.8, 4.2});
  Evaluation elsewhere = timed({"naive", 4.0, 3.9, 4.1});
  elsewhere.device = "other";
  const auto comparison = compare(claimed, elsewhere, 0);
  EXPECT_FALSE(comparison.holds());
  EXPECT_TRUE(comparison.right);
  EXPECT_EQ(comparison.speed, SpeedCheck::not_checked);
  EXPECT_HAS(comparison.remarks.at(0), "cannot be compared");
  const auto noisy = compare(claimed, timed({"naive", 4.0, 2.0, 9.0}), 0);
  EXPECT_EQ(noisy.speed, SpeedCheck::not_checked);
  EXPECT_HAS(noisy.remarks.at(0), "too wide");
  Evaluation wrong = claimed;
  wrong.outcome = WrongResult{Gate::values, "", std::nullopt};
  EXPECT_FALSE(compare(claimed, wrong, 0.03).right);
}

TEST(Comparison, AKernelThatIsLessThanItWasSaidToBeIsNotRight) {
  Evaluation claimed = timed({"naive", 4.0, 3.8, 4.2}), fresh = claimed;
  claimed.seen.deterministic = true;
  EXPECT_TRUE(compare(claimed, fresh, 0).holds());
  fresh.seen.deterministic = false;
  EXPECT_FALSE(compare(claimed, fresh, 0).right);
}

TEST(Comparison, IsOverTheStrongestBaselineMeasuredByTheCheck) {
  const auto comparison = compare(timed({"naive", 4.0, 3.8, 4.2}), timed({"naive-parallel", 1.1, 1.0, 1.2}), 0.05);
  EXPECT_EQ(comparison.speed, SpeedCheck::refuted);
  EXPECT_EQ(comparison.found.ratio, 1.1);
  EXPECT_HAS(comparison.remarks.at(0), "the strongest baseline here is 'naive-parallel'");
}

TEST(Comparison, ShapesAreHeldToTheirOwnClaims) {
  const auto shape = [](const char* name, double ratio) {
    return ShapeMeasurement{name, 1, {}, {}, {{"naive", {"naive", ratio, ratio * 0.98, ratio * 1.02}}}, std::nullopt};
  };
  const Evaluation claimed = timed({"naive", 4.0, 3.9, 4.1}, {shape("a", 40), shape("b", 0.4)});
  const Evaluation found = timed({"naive", 4.0, 3.9, 4.1}, {shape("a", 4), shape("b", 4)});
  const auto comparison = compare(claimed, found, 0.05);
  EXPECT_EQ(comparison.speed, SpeedCheck::refuted);
  EXPECT_HAS(comparison.remarks.at(0), "shape 'a': 40 times over naive was claimed");
  EXPECT_TRUE(compare(found, found, 0.05).holds());
}

}  // namespace
}  // namespace kerf::exporting
