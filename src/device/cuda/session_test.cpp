// The worker's state, driven directly over the fake driver.

#include "device/cuda/session.hpp"

#include <dlfcn.h>

#include <cstring>

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "base/test_paths.hpp"
#include "device/cuda/fake/fake_language.hpp"
#include "device/cuda/judge_kernels.hpp"

namespace kerf::cuda {
namespace {

constexpr std::uint64_t kCount = 1001, kId = 7, kSecond = 0x1234567;

/// One input of kCount floats and one output of as many, all values 1.5, all bounds 0.25.
class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    const std::string library = self.parent_path() / "libkerf_fake_cuda.so";
    const std::filesystem::path shim = source_folder() / "src/device/cuda/fake/kernel_shim.hpp";
    if (!std::filesystem::exists(library) || !std::filesystem::exists(shim)) GTEST_SKIP() << "no fake driver";
    FakeCudaLanguage language(shim);
    CompileRequest request;
    request.source = judge_source();
    auto made = language.compile(request);
    ASSERT_TRUE(made && std::holds_alternative<Artifact>(*made));
    request.source = judge_local_source();
    auto local = language.compile(request);
    ASSERT_TRUE(local && std::holds_alternative<Artifact>(*local));
    auto session = Session::create(library, 0);
    ASSERT_TRUE(session) << session.error().message;
    session_ = std::make_unique<Session>(*std::move(session));
    staging_.resize(1 << 20);
    ok(session_->setup(std::get<Artifact>(*made).bytes, std::get<Artifact>(*local).bytes, staging_.data(),
                       staging_.size()));
    ok(session_->layout(99, 98, 1, {kCount * 4, kCount * 4}));
    upload();
    void* fake = ::dlopen(library.c_str(), RTLD_NOW);
    spoil_ = reinterpret_cast<int (*)(std::size_t)>(::dlsym(fake, "kerf_fake_spoil"));
    zeros_ = reinterpret_cast<std::size_t (*)(std::size_t)>(::dlsym(fake, "kerf_fake_zeros"));
    end_process_ = reinterpret_cast<void (*)()>(::dlsym(fake, "kerf_fake_end_process"));
    launches_ = reinterpret_cast<int (*)(const char*)>(::dlsym(fake, "kerf_fake_launches"));
    local_bytes_ = static_cast<int*>(::dlsym(fake, "kerf_fake_local_bytes"));
    ASSERT_TRUE(spoil_ != nullptr && zeros_ != nullptr && end_process_ != nullptr);
    ASSERT_TRUE(launches_ != nullptr && local_bytes_ != nullptr);
    *local_bytes_ = 0;
  }
  void TearDown() override {
    session_.reset();
    if (end_process_ != nullptr) end_process_();  // a session leaves its memory to the end of the worker
  }
  static void ok(const Status& status) { ASSERT_TRUE(status) << status.error().message; }

  template <class Word>
  void write(std::uint64_t array, const Word& word, std::uint64_t key) {
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const Word masked = key ? static_cast<Word>(word ^ static_cast<Word>(mix64(mix64(key + i) ^ kSecond))) : word;
      std::memcpy(staging_.data() + i * sizeof masked, &masked, sizeof masked);
    }
    ok(session_->data_write(kId, array, 0, 0, kCount * sizeof(Word)));
  }
  void upload() {
    ok(session_->data_make(kId, {kCount * 4, kCount * 8, kCount * 4 + 0}));
    write<std::uint32_t>(0, 0x3fc00000, 0);           // 1.5f
    write<std::uint64_t>(1, 0x3ff8000000000000, 11);  // 1.5
    write<std::uint32_t>(2, 0x3e800000, 22);          // 0.25f
    ok(session_->data_seal(kId, 1));
  }
  Result<StepAnswer> step(StepRequest request, std::uint64_t handle = 0) {
    KERF_TRY(auto answers, session_->follow(handle, {std::move(request)}));
    return answers.front();
  }
  static StepRequest staging(std::uint64_t slot, std::uint64_t poison) {
    return {StepRequest::stage, slot, kId, 1, poison, {}, 0, 0, {}};
  }
  static StepRequest running(std::vector<std::uint64_t> slots, bool timed) {
    return {StepRequest::run, 0, 0, 0, 0, std::move(slots), timed ? 1u : 0u, 0, {}};
  }
  static StepRequest checking() {
    return {StepRequest::check, 0, kId, 1, 0, {}, 0, 0, {{1, 0, kCount, 0, 11, 22, kSecond, 4}}};
  }
  Result<bool> stage(std::uint64_t slot, std::uint64_t poison) {
    return step(staging(slot, poison)).map([](const StepAnswer& answer) { return answer.intact; });
  }
  Result<RunTimes> run(std::uint64_t handle, std::vector<std::uint64_t> slots, bool timed = true) {
    return step(running(std::move(slots), timed), handle).map([](const StepAnswer& answer) { return answer.times; });
  }
  Result<CheckAnswer> check() {
    return step(checking()).map([](const StepAnswer& answer) { return answer.check; });
  }

  /// Loads kernel 1, `k`, whose body sees float* x and y.
  void load_kernel(const std::string& body) {
    FakeCudaLanguage language(source_folder() / "src/device/cuda/fake/kernel_shim.hpp");
    CompileRequest request;
    request.source = "extern \"C\" __global__ void k(const float* x, float* y) {" + body + "}\n";
    const auto made = language.compile(request);
    ASSERT_TRUE(made && std::holds_alternative<Artifact>(*made));
    ok(session_->load(1, std::get<Artifact>(*made).bytes, {}, {LaunchNumbers{"k", {1, 1, 1}, {1, 1, 1}, 0, {0, 1}}}));
  }
  /// Runs a kernel that does nothing on the first slot.
  void run_idle_kernel(bool is_timed = true) {
    load_kernel("");
    const auto times = run(1, {0}, is_timed);
    ASSERT_TRUE(times) << times.error().message;
  }

  std::unique_ptr<Session> session_;
  std::vector<char> staging_;
  int (*spoil_)(std::size_t) = nullptr;
  int (*launches_)(const char*) = nullptr;
  int* local_bytes_ = nullptr;
  std::size_t (*zeros_)(std::size_t) = nullptr;
  void (*end_process_)() = nullptr;
};

TEST_F(SessionTest, PoisonedOutputsAreAllWrong) {
  const auto staged = stage(0, 0x7fff);
  ASSERT_TRUE(staged) << staged.error().message;
  EXPECT_TRUE(*staged);
  const auto answer = check();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->outputs.at(0).compared, kCount);
  EXPECT_EQ(answer->outputs.at(0).wrong, kCount);
  EXPECT_TRUE(answer->changed_inputs.empty());
  EXPECT_TRUE(answer->broken_buffers.empty());
}

TEST_F(SessionTest, SpoiledInputsAndBoundsAreNoticedWhenTheyAreStagedAndAnUploadHealsThem) {
  ASSERT_GE(spoil_(kCount * 4), 1);  // the master and the bounds have the same size
  EXPECT_FALSE(*stage(0, 0xffff));
  upload();
  EXPECT_TRUE(*stage(0, 0xffff));
}

TEST_F(SessionTest, SpoiledExpectedValuesAreNoticedWhenTheyAreStaged) {
  ASSERT_GE(spoil_(kCount * 8), 1);
  EXPECT_FALSE(*stage(0, 0xffff));
}

TEST_F(SessionTest, SpoiledDataChangesTheSumsOfTheComparison) {
  EXPECT_TRUE(*stage(0, 0xffff));
  const auto before = check();
  ASSERT_TRUE(before);
  ASSERT_GE(spoil_(kCount * 8), 1);
  const auto values = check();
  EXPECT_NE(values->outputs[0].expected_sum, before->outputs[0].expected_sum);
  EXPECT_EQ(values->outputs[0].bound_sum, before->outputs[0].bound_sum);
  ASSERT_GE(spoil_(kCount * 4), 1);
  EXPECT_NE(check()->outputs[0].bound_sum, before->outputs[0].bound_sum);
}

constexpr std::size_t kL2 = 1 << 20;  // of the fake device

TEST_F(SessionTest, BeforeARunAsMuchOfTheCacheIsModifiedAsSmallOutputsAre) {
  ASSERT_TRUE(*stage(0, 0xffff));
  EXPECT_EQ(zeros_(3 * kL2), 0u);
  run_idle_kernel();
  EXPECT_EQ(zeros_(3 * kL2), kCount * 4);
}

TEST_F(SessionTest, TheCacheIsSettledForTimedRunsOnly) {
  ASSERT_TRUE(*stage(0, 0xffff));
  run_idle_kernel(false);
  EXPECT_EQ(zeros_(3 * kL2), 0u);
}

TEST_F(SessionTest, AListIsDoneInOrder) {
  load_kernel("for (int i = 0; i < 1001; ++i) y[i] = x[i];");
  std::vector<StepRequest> steps{checking()};
  for (const bool is_timed : {false, true, false})
    for (const auto& next : {staging(0, 0xffff), running({0}, is_timed), checking()}) steps.push_back(next);
  steps.push_back(staging(0, 0xffff));
  steps.push_back(checking());
  const auto answers = session_->follow(1, steps);
  ASSERT_TRUE(answers) << answers.error().message;
  std::vector<std::uint64_t> wrong;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].kind == StepRequest::check) wrong.push_back((*answers)[i].check.outputs.at(0).wrong);
  EXPECT_EQ(wrong, (std::vector<std::uint64_t>{kCount, 0, 0, 0, kCount}));
}

TEST_F(SessionTest, MoreStepsThanTheWorkMemoryHoldsAreDoneInPieces) {
  std::vector<StepRequest> steps;
  for (int i = 0; i < 100; ++i)
    for (const auto& next : {staging(0, 0xffff), checking()}) steps.push_back(next);
  const auto answers = session_->follow(0, steps);
  ASSERT_TRUE(answers) << answers.error().message;
  for (std::size_t i = 0; i < steps.size(); i += 2) {
    EXPECT_TRUE((*answers)[i].intact);
    EXPECT_EQ((*answers)[i + 1].check.outputs.at(0).wrong, kCount);
  }
}

TEST_F(SessionTest, BeforeARunTheModifiedPartOfTheCacheIsTheShareOfLargeOutputs) {
  ok(session_->layout(99, 98, 1, {kL2, 7 * kL2}));
  ok(session_->data_make(kId, {kL2}));
  ok(session_->data_seal(kId, 1));
  ASSERT_TRUE(*stage(0, 0xffff));
  run_idle_kernel();
  EXPECT_EQ(zeros_(3 * kL2), kL2 / 8 * 7);
}

TEST_F(SessionTest, RequestsOutsideTheBuffersAreRefused) {
  EXPECT_EQ(session_->read(0, 1, kCount * 4, 0, 1).error().code, Errc::invalid_input);
  EXPECT_EQ(session_->read(1, 0, 0, 0, 1).error().code, Errc::invalid_input);
  EXPECT_EQ(session_->data_write(kId, 0, 1, 0, kCount * 4).error().code, Errc::invalid_input);
  EXPECT_EQ(session_->data_write(8, 0, 0, 0, 4).error().code, Errc::invalid_input);
  EXPECT_EQ(stage(1, 0).error().code, Errc::invalid_input);
  EXPECT_EQ(run(5, {0}).error().code, Errc::invalid_input);
}

TEST_F(SessionTest, MissingMemoryIsToldAndLeavesTheSessionUsable) {
  const auto status = session_->data_make(9, {std::uint64_t{1} << 40});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Errc::unavailable);
  EXPECT_NE(status.error().message.find("GiB"), std::string::npos);
  EXPECT_TRUE(*stage(0, 0xffff));
}

TEST_F(SessionTest, LocalMemoryIsScrubbedBeforeAKernelThatUsesSome) {
  run_idle_kernel();
  EXPECT_EQ(launches_("kerf_scrub_local"), 0);
  *local_bytes_ = 100;
  run_idle_kernel();
  EXPECT_EQ(launches_("kerf_scrub_local_1024"), 1);
  *local_bytes_ = 1025;
  run_idle_kernel();
  EXPECT_EQ(launches_("kerf_scrub_local_8192"), 1);
}

TEST_F(SessionTest, MoreLocalMemoryThanCanBeScrubbedIsRefused) {
  FakeCudaLanguage language(source_folder() / "src/device/cuda/fake/kernel_shim.hpp");
  CompileRequest request;
  request.source = "extern \"C\" __global__ void idle(const float* x, float* y) {}\n";
  const auto made = language.compile(request);
  ASSERT_TRUE(made && std::holds_alternative<Artifact>(*made));
  *local_bytes_ = static_cast<int>(kMostLocalBytes) + 1;
  const auto loaded =
      session_->load(1, std::get<Artifact>(*made).bytes, {}, {LaunchNumbers{"idle", {1, 1, 1}, {1, 1, 1}, 0, {0, 1}}});
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("local memory"), std::string::npos);
}

TEST_F(SessionTest, AKernelThatWritesIntoTheJudgesIdleMemoryIsFoundOut) {
  run_idle_kernel();
  ASSERT_EQ(spoil_(3 << 20), 1);  // as a kernel would that keeps something there: three times the fake's L2 cache
  for (const bool is_timed : {true, false}) {
    const auto times = run(1, {0}, is_timed);
    ASSERT_FALSE(times);
    EXPECT_NE(times.error().message.find("not its own"), std::string::npos);
  }
}

}  // namespace
}  // namespace kerf::cuda
