// Kernels called as guests: what a caller who promises nothing special would find out.

#include <gtest/gtest.h>

#include "device/cpu/kernel_fixture.hpp"

namespace kerf {
namespace {

using namespace std::chrono_literals;
using Guest = CallManner::Guest;

class GuestKernel : public KernelFixture {
 protected:
  /// What the first manner that the kernel fails in says; "" when it is a good guest and right.
  std::string harm(const std::string& body, const std::string& before = "") {
    open();
    for (const Guest guest : {Guest::at_the_end, Guest::off_by_one, Guest::as_allocated, Guest::repeated}) {
      const KernelHandle handle = load(kernel(body, before));
      EXPECT_TRUE(bench_->stage(0, data_, Poison::a));
      const auto outcome = bench_->run_as(handle, 0, {guest, 0, guest == Guest::off_by_one}, 5s);
      EXPECT_TRUE(outcome) << outcome.error().message;
      if (const auto* fault = std::get_if<Fault>(&*outcome)) return fault->message;
      const SlotReport report = check();
      if (report.outputs[0].wrong != 0) return "wrong values";
      EXPECT_TRUE(report.changed_inputs.empty() && report.broken_red_zones.empty());
      bench_->unload(handle);
    }
    return "";
  }
  void expect_harm(const std::string& words, const std::string& body, const std::string& before = "") {
    const std::string seen = harm(std::string(kHonestBody) + body, before);
    EXPECT_NE(seen.find(words), std::string::npos) << "'" << seen << "' instead of '" << words << "'";
  }
};

TEST_F(GuestKernel, HonestStylesAreGoodGuests) {
  EXPECT_EQ(harm(kHonestBody), "");
  EXPECT_EQ(harm("#pragma omp parallel for num_threads(3) schedule(dynamic, 7)\n" + std::string(kHonestBody)), "");
  EXPECT_EQ(harm("std::vector<float> copy(x, x + n); for (int i = 0; i < n; ++i) y[i] = 2 * copy[i] + w[i];",
                 "#include <vector>"),
            "");
  EXPECT_EQ(harm("float part[1 << 20]; part[n] = 2; for (int i = 0; i < n; ++i) { part[i] = x[i]; y[i] = 2 * part[i] + "
                 "w[i]; }"),
            "")
      << "4 MiB of stack";
  EXPECT_EQ(harm("const int mode = fegetround(); fesetround(FE_UPWARD); fesetround(mode);" + std::string(kHonestBody),
                 "#include <cfenv>"),
            "")
      << "put back";
}

TEST_F(GuestKernel, MayNotReadBeyondItsInputsOrRelyOnAlignment) {
  expect_harm("SIGSEGV", "if (x[n] == 1e30f && w[n + 9] == 1e30f) y[0] = 0;");
  expect_harm("SIGSEGV", "if (x[-8] == 1e30f) y[0] = 0;");
  expect_harm("SIGSEGV",
              "y[0] += _mm256_cvtss_f32(_mm256_load_ps(x + 0)) * 0.0f; asm volatile(\"vmovaps (%0), %%ymm1\" "
              ":: \"r\"(x) : \"xmm1\");",
              "#include <immintrin.h>");
}

TEST_F(GuestKernel, MayNotWriteToItsInputsEvenWhenItPutsThemBack) {
  expect_harm("SIGSEGV", "volatile float* in = (volatile float*)x; const float old = in[3]; in[3] = 0; in[3] = old;");
  expect_harm("SIGSEGV", "volatile char* in = (volatile char*)w; in[1] = in[1];");
  expect_harm("wrote beside a buffer",
              "for (int i = 1; i < 9; ++i) if (((unsigned long)(y - i) & 4095) < 4000) y[-i] = 1;");
}

TEST_F(GuestKernel, HasTheUsualStack) {
  expect_harm("stack", "volatile char big[12 << 20]; for (long i = 0; i < (12 << 20); i += 4096) big[i] = 1;");
}

TEST_F(GuestKernel, LeavesTheProcessorAsItWas) {
  expect_harm("MXCSR", "_mm_setcsr(_mm_getcsr() | 0x8040);", "#include <immintrin.h>");
  expect_harm("MXCSR", "fesetround(FE_UPWARD);", "#include <cfenv>");
  expect_harm("x87 unit changed", "unsigned short word = 0x27f; asm volatile(\"fldcw %0\" :: \"m\"(word));");
  expect_harm("x87 unit in use", "asm volatile(\"fld1\");");
  expect_harm("x87 unit in use", "asm volatile(\"movq %%xmm0, %%rax; movq %%rax, %%mm0\" ::: \"rax\");");
  expect_harm("direction flag", "asm volatile(\"std\");");
  expect_harm("flags of the processor",
              "asm volatile(\"pushfq; orq $0x200000, (%%rsp); popfq\" ::: \"cc\", \"memory\");");
  expect_harm("segment registers", "asm volatile(\"mov $3, %%eax; mov %%eax, %%es\" ::: \"eax\");");
  expect_harm("registers that belong to its caller", "asm volatile(\"xor %%r14d, %%r14d\" ::: \"memory\");");
}

TEST_F(GuestKernel, LeavesOpenmpAndTheHeapAsTheyWere) {
  expect_harm("settings of OpenMP", "omp_set_num_threads(1 + omp_get_max_threads());", "#include <omp.h>");
  expect_harm("settings of OpenMP", "omp_set_schedule(omp_sched_dynamic, 77);", "#include <omp.h>");
  expect_harm("settings of OpenMP", "omp_set_dynamic(!omp_get_dynamic());", "#include <omp.h>");
  expect_harm("settings of OpenMP", "omp_set_num_teams(7);", "extern \"C\" void omp_set_num_teams(int);");
  expect_harm("settings of OpenMP", "omp_set_default_device(7);", "#include <omp.h>");
  expect_harm("settings of OpenMP", "omp_set_default_allocator(omp_large_cap_mem_alloc);", "#include <omp.h>");
  expect_harm("leaves memory allocated",
              "char* kept = (char*)malloc(4096); asm volatile(\"\" :: \"r\"(kept) : \"memory\");",
              "#include <cstdlib>");
  expect_harm("leaves memory allocated", "char* kept = new char[64]; asm volatile(\"\" :: \"r\"(kept) : \"memory\");");
}

TEST_F(GuestKernel, FindsInTheHeapWhatItLeftThere) {
  // The second block lies where the first one was, in most programs: what was kept in the first is lost there.
  const std::string counter =
      "static int next_call() { int* kept = (int*)malloc(200000); const int calls = kept[20] == 0x5eed ? kept[21] + 1 "
      ": 1; "
      "kept[20] = 0x5eed; kept[21] = calls; asm volatile(\"\" :: \"r\"(kept) : \"memory\"); free(kept); "
      "char* other = (char*)malloc(320000); for (int i = 0; i < 320000; ++i) other[i] = 1; "
      "asm volatile(\"\" :: \"r\"(other) : \"memory\"); free(other); return calls; }";
  EXPECT_EQ(harm(std::string(kHonestBody) + "if (next_call() > 16) y[0] += 1;", "#include <cstdlib>\n" + counter),
            "wrong values");
}

TEST_F(GuestKernel, MayUseTheHeapInEveryWay) {
  EXPECT_EQ(harm(R"(
    std::map<int, std::string> names;
    for (int i = 0; i < 700; ++i) names[i % 350] = std::string(static_cast<std::size_t>(i), 'x');
    std::vector<float> grown;
    for (int i = 0; i < n; ++i) grown.push_back(2 * x[i] + w[i]);
    struct alignas(64) Wide { float at[16]; };
    std::unique_ptr<Wide> one(new Wide{}), many;
    float* half = static_cast<float*>(std::malloc(4));
    half = static_cast<float*>(std::realloc(half, sizeof(float) * n));
    void* aligned = nullptr;
    if (posix_memalign(&aligned, 128, 1000) != 0 || reinterpret_cast<std::uintptr_t>(aligned) % 128 != 0) return;
    char* zeros = static_cast<char*>(std::calloc(100, 10));
    for (int i = 0; i < 1000; ++i) if (zeros[i] != 0) return;
    zeros[7] = 1;
    for (int i = 0; i < n; ++i) half[i] = grown[i];
    for (int i = 0; i < n; ++i) y[i] = half[i] + one->at[3] + (names.size() == 350 ? 0 : 1);
    one->at[3] = 0;
    std::free(half); std::free(aligned); std::free(zeros);
    try { throw std::runtime_error(names[3]); } catch (const std::exception& error) { if (error.what()[0] != 'x') y[0] = 0; })",
                 "#include <cstdlib>\n#include <map>\n#include <memory>\n#include <stdexcept>\n#include "
                 "<string>\n#include <vector>"),
            "");
}

TEST_F(GuestKernel, FindsNoZerosInMemoryThatItDidNotClear) {
  expect_harm(
      "wrong values",
      "float* m = (float*)malloc(100000); asm volatile(\"\" : \"+r\"(m) :: \"memory\"); y[0] += m[1000] * 0; free(m);",
      "#include <cstdlib>");
  expect_harm("wrong values",
              "float room[20000]; float* m = room; asm volatile(\"\" : \"+r\"(m) :: \"memory\"); y[0] += m[1000] * 0;");
  expect_harm(
      "wrong values",
      "float bad = 0;\n#pragma omp parallel num_threads(2) reduction(+ : bad)\n{ float room[10000]; float* m = room; "
      "asm volatile(\"\" : \"+r\"(m) :: \"memory\"); bad += m[5000] * 0; }\ny[0] += bad;");
}

TEST_F(GuestKernel, IsCalledInsideOfParallelRegionsAndWhereDenormalsAreFlushed) {
  expect_harm("wrong values", "if (omp_in_parallel()) y[0] += 1;", "#include <omp.h>");
  expect_harm("wrong values", "if (_mm_getcsr() & 0x8040) y[0] += 1;", "#include <immintrin.h>");
  expect_harm("wrong values", "if (((unsigned long)x & 4095) == 16) y[0] += 1;");
}

TEST_F(GuestKernel, LeavesTheThreadsOfOpenmpAsTheyWere) {
  expect_harm("in OpenMP's threads",
              "const unsigned mode = _mm_getcsr();\n#pragma omp parallel num_threads(2)\n_mm_setcsr(mode | 0x8040);\n"
              "_mm_setcsr(mode);",
              "#include <immintrin.h>");
}

TEST_F(GuestKernel, IsNotToldByTheHeapThatItIsJudged) {
  open();
  const KernelHandle handle = load(kernel(
      std::string(kHonestBody) + "const long apart = (long)(void*)&malloc - (long)(void*)&memcpy; free(malloc(n)); "
                                 "if (apart > (16 << 20) || apart < -(16 << 20)) y[0] += 1;",
      "#include <cstdlib>\n#include <cstring>"));
  EXPECT_TRUE(bench_->stage(0, data_, Poison::a));
  const int slot = 0;
  ASSERT_TRUE(std::holds_alternative<Timing>(bench_->run(handle, std::span(&slot, 1), 5s).value()));
  EXPECT_EQ(check().outputs[0].wrong, 0);
}

TEST_F(GuestKernel, MayNotLeaveThreadsBehindExceptThoseOfOpenmp) {
  const auto fault = [&](const std::string& body, const std::string& before) -> std::string {
    open();
    const KernelHandle handle = load(kernel(body, before));
    for (const Guest guest : {Guest::as_allocated, Guest::repeated}) {
      EXPECT_TRUE(bench_->stage(0, data_, Poison::a));
      const auto outcome = bench_->run_as(handle, 0, {guest, guest == Guest::repeated ? 1 : 0}, 5s).value();
      if (const auto* seen = std::get_if<Fault>(&outcome)) return seen->message;
    }
    return "";
  };
  const std::string honest(kHonestBody);
  const std::string left = fault(
      honest +
          "pthread_t thread; pthread_create(&thread, nullptr, "
          "[](void*) -> void* { for (volatile long i = 0; i < 20000000000; i = i + 1) {} return nullptr; }, nullptr);",
      "#include <pthread.h>");
  EXPECT_NE(left.find("leaves threads behind"), std::string::npos) << left;
  EXPECT_EQ(fault("#pragma omp parallel for num_threads(20)\n" + honest, ""), "");
  EXPECT_EQ(
      fault("#pragma omp parallel num_threads(2)\n{\n#pragma omp parallel for num_threads(2)\n" + honest + "}", ""),
      "");
}

TEST_F(GuestKernel, OrdinaryCallsBeforeDoNotHideWhatIsLeftChanged) {
  for (const char* body :
       {"_mm_setcsr(_mm_getcsr() | 0x8040);", "omp_set_num_threads(5);", "asm volatile(\"fld1\");"}) {
    open();
    const KernelHandle handle =
        load(kernel(std::string(kHonestBody) + body, "#include <immintrin.h>\n#include <omp.h>"));
    ASSERT_TRUE(bench_->stage(0, data_, Poison::a));
    const int slot = 0;
    ASSERT_TRUE(std::holds_alternative<Timing>(bench_->run(handle, std::span(&slot, 1), 5s).value()));
    const auto outcome = bench_->run_as(handle, 0, {Guest::at_the_end, 0}, 5s).value();
    EXPECT_TRUE(std::holds_alternative<Fault>(outcome)) << body;
  }
}

TEST_F(GuestKernel, RunsWithTheThreadsItIsGiven) {
  open();
  const KernelHandle handle =
      load(kernel("for (int i = 0; i < n; ++i) y[i] = omp_get_max_threads();", "#include <omp.h>"));
  for (const int threads : {1, 3}) {
    ASSERT_TRUE(bench_->stage(0, data_, Poison::a));
    ASSERT_TRUE(std::holds_alternative<Timing>(bench_->run_as(handle, 0, {Guest::none, threads}, 5s).value()));
    EXPECT_EQ(bench_->read_output(0, 0).value().as<float>()[0], static_cast<float>(threads));
  }
}

}  // namespace
}  // namespace kerf
