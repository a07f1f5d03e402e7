// Kernels that attack the judge's process, its clock or its memory. What they get is a fault or a wrong result.

#include <gtest/gtest.h>

#include <thread>

#include "device/cpu/kernel_fixture.hpp"

namespace kerf {
namespace {

using namespace std::chrono_literals;

class HostileKernel : public KernelFixture {
 protected:
  void expect_forbidden(const std::string& body, const std::string& call, const std::string& before = "") {
    const Fault fault = fault_of(kernel(std::string(kHonestBody) + body, before));
    EXPECT_EQ(fault.kind, Fault::Kind::forbidden) << fault.message;
    EXPECT_NE(fault.message.find(call), std::string::npos) << fault.message;
  }
};

TEST_F(HostileKernel, CannotMakeSystemCallsOfItsOwn) {
  const std::string headers =
      "#include <fcntl.h>\n#include <signal.h>\n#include <sys/socket.h>\n#include <unistd.h>\n#include <sys/prctl.h>\n";
  expect_forbidden("open(\"/etc/passwd\", 0);", "openat", headers);
  expect_forbidden("socket(2, 1, 0);", "socket", headers);
  expect_forbidden("fork();", "clone", headers);
  expect_forbidden("signal(SIGSYS, SIG_IGN);", "rt_sigaction", headers);
  expect_forbidden("kill(1, 9);", "kill", headers);
  expect_forbidden("execl(\"/bin/sh\", \"sh\", nullptr);", "execve", headers);
  expect_forbidden("prctl(1, 0);", "prctl", headers);
  expect_forbidden("sleep(1);", "nanosleep", headers);
  expect_forbidden("if (write(3, y, 4) < 0) y[0] = 0;", "write", headers);
}

TEST_F(HostileKernel, CannotEndItsProcessUnseen) {
  const Fault fault = fault_of(kernel(std::string(kHonestBody) + "_exit(0);", "#include <unistd.h>"));
  EXPECT_EQ(fault.kind, Fault::Kind::crashed);
  EXPECT_NE(fault.message.find("ended its process"), std::string::npos) << fault.message;
}

TEST_F(HostileKernel, GainsNothingFromADetachedThreadThatFinishesLater) {
  // Finds the control page by its address in the first page-aligned shared mapping is not needed: it waits instead, and
  // lets a thread of its own finish the work later, which the judge sees as outputs that are not there.
  const std::string source =
      kernel("pthread_t t; pthread_create(&t, nullptr, later, new Work{x, w, y}); pthread_detach(t);",
             R"(#include <pthread.h>
struct Work { const float *x, *w; float* y; };
static void* later(void* p) {
  Work* k = (Work*)p;
  for (long i = 0; i < 400000000; ++i) asm volatile("");
  for (int i = 0; i < n; ++i) k->y[i] = 2 * k->x[i] + k->w[i];
  return nullptr;
})");
  const RunOutcome outcome = run_once(source);
  ASSERT_TRUE(std::holds_alternative<Timing>(outcome)) << std::get<Fault>(outcome).message;
  const SlotReport at_once = check();
  EXPECT_EQ(at_once.outputs[0].wrong, n);
  std::this_thread::sleep_for(1s);  // it would be done by now if it ran
  EXPECT_EQ(check().outputs[0].wrong, n);
}

TEST_F(HostileKernel, ASpinningHelperIsStoppedWithItsProcess) {
  // The helper copies what it sees into the output as soon as new inputs appear; staged while it is stopped, they do
  // not.
  const std::string source = kernel("pthread_t t; pthread_create(&t, nullptr, spin, new Work{x, w, y});",
                                    R"(#include <pthread.h>
struct Work { const float *x, *w; float* volatile y; };
static void* spin(void* p) {
  Work* k = (Work*)p;
  for (;;) for (int i = 0; i < n; ++i) k->y[i] = 2 * k->x[i] + k->w[i];
})");
  const KernelHandle handle = load(source);
  const int slot = 0;
  ASSERT_TRUE(bench_->stage(0, data_, Poison::a));
  ASSERT_TRUE(bench_->run(handle, std::span(&slot, 1), 1s));
  data_ = make_data(9);
  ASSERT_TRUE(bench_->stage(0, data_, Poison::b));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(check().outputs[0].wrong, n);
}

TEST_F(HostileKernel, AForkBombIsRefusedAtItsFirstFork) {
  expect_forbidden("for (;;) fork();", "clone", "#include <unistd.h>");
}

TEST_F(HostileKernel, AMemoryBombIsStopped) {
  const Fault fault = fault_of(
      kernel("for (;;) { char* p = (char*)malloc(1 << 28); memset(p, 1, 1 << 28); asm volatile(\"\" :: \"r\"(p)); }"),
      60s);
  EXPECT_EQ(fault.kind, Fault::Kind::crashed) << fault.message;
}

TEST_F(HostileKernel, AThreadBombIsStopped) {
  const Fault fault =
      fault_of(kernel("for (;;) { pthread_t t; if (pthread_create(&t, nullptr, idle, nullptr) != 0) abort(); }",
                      "#include <pthread.h>\n#include <semaphore.h>\nstatic void* idle(void*) { sem_t s; "
                      "sem_init(&s, 0, 0); sem_wait(&s); return nullptr; }"),
               20s);
  EXPECT_EQ(fault.kind, Fault::Kind::crashed) << fault.message;
}

TEST_F(HostileKernel, ScribblingOverEverythingItCanReachEndsOnlyItself) {
  // Writes upwards and downwards from its output until it hits memory that is not mapped.
  fault_of(kernel("volatile float* p = y; for (;;) *p++ = 0;"));
  fault_of(kernel("volatile float* p = y; for (;;) *p-- = 0;"));
  const RunOutcome outcome = run_once(kernel(kHonestBody));
  ASSERT_TRUE(std::holds_alternative<Timing>(outcome));
  EXPECT_EQ(check().outputs[0].wrong, 0);
}

TEST_F(HostileKernel, CannotRememberAnythingInItsOwnVariables) {
  const Fault fault =
      fault_of(kernel(std::string(kHonestBody) + "calls = calls + 1;", "static volatile long calls = 0;"));
  EXPECT_EQ(fault.kind, Fault::Kind::crashed);
  const Fault table =
      fault_of(kernel("volatile long* got; __asm__ volatile(\"lea _GLOBAL_OFFSET_TABLE_(%%rip), %0\" : \"=r\"(got)); "
                      "got[1] = got[1] + 1;"));
  EXPECT_EQ(table.kind, Fault::Kind::crashed);
}

TEST_F(HostileKernel, CannotMakeEvenHarmlessSystemCallsItself) {
#ifdef __x86_64__
  const std::string raw =
      "static long raw(long nr, long a, long b, long c) { long r; __asm__ volatile(\"syscall\" : \"=a\"(r) : "
      "\"a\"(nr), "
      "\"D\"(a), \"S\"(b), \"d\"(c) : \"rcx\", \"r11\", \"memory\"); return r; }";
  expect_forbidden("raw(186, 0, 0, 0);", "gettid", raw);
  expect_forbidden("raw(10, ((long)(y + n) + 8191) & -4096, 4096, 3);", "mprotect", raw);
  expect_forbidden("raw(202, (long)y, 1, 1);", "futex", raw);
  const Fault old_gate = fault_of(kernel("__asm__ volatile(\"int $0x80\" :: \"a\"(20L) : \"memory\");"));
  EXPECT_EQ(old_gate.kind, Fault::Kind::forbidden) << old_gate.message;
#else
  GTEST_SKIP() << "instructions of x86-64";
#endif
}

TEST_F(HostileKernel, CannotLeaveThreadsOfAParallelRegionBehind) {
  const Fault fault = fault_of(kernel(std::string(kHonestBody) + R"(
void* here[5];
if (__builtin_setjmp(here) != 0) return;
#pragma omp parallel num_threads(2)
{
  if (omp_get_thread_num() == 0) __builtin_longjmp(here, 1);
})"));
  EXPECT_NE(fault.message.find("parallel region"), std::string::npos) << fault.message;
}

TEST_F(HostileKernel, CodeAtLoadTimeIsUnderTheFilterToo) {
  const Artifact artifact = compile(kernel(kHonestBody, R"(
#include <unistd.h>
__attribute__((constructor)) static void early() { fork(); })"));
  const auto loaded = bench_->load(artifact, {}, {{"n", n}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_TRUE(std::holds_alternative<Fault>(*loaded));
  EXPECT_EQ(std::get<Fault>(*loaded).kind, Fault::Kind::forbidden);
}

TEST_F(HostileKernel, AnExitWhileLoadingIsAFault) {
  const Artifact artifact = compile(kernel(kHonestBody, R"(
#include <unistd.h>
__attribute__((constructor)) static void early() { _exit(3); })"));
  const auto loaded = bench_->load(artifact, {}, {{"n", n}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_TRUE(std::holds_alternative<Fault>(*loaded));
  EXPECT_NE(std::get<Fault>(*loaded).message.find("exit status 3"), std::string::npos);
}

}  // namespace
}  // namespace kerf
