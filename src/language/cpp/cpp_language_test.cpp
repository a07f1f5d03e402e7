#include "language/cpp/cpp_language.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "language/cpp/elf_facts.hpp"

namespace kerf {
namespace {

class CppLanguageTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    char name[] = "/tmp/kerf-cpp-test-XXXXXX";
    folder_ = new std::filesystem::path(::mkdtemp(name));
    sandbox_ = make_sandbox().release();
    CppLanguageOptions options;
    options.sandbox = sandbox_;
    options.cache = *folder_;
    options.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    auto language = make_cpp_language(options);
    ASSERT_TRUE(language) << language.error().message;
    language_ = language->release();
  }
  static void TearDownTestSuite() {
    delete language_;
    delete sandbox_;
    std::filesystem::remove_all(*folder_);
    delete folder_;
  }

  static CompileOutcome compile(std::string source, Bindings constants = {}) {
    CompileRequest request;
    request.source = std::move(source);
    request.constants = std::move(constants);
    auto outcome = language_->compile(request);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return *std::move(outcome);
  }
  static Artifact compiled(const std::string& source, Bindings constants = {}) {
    auto outcome = compile(source, std::move(constants));
    if (auto* failed = std::get_if<CompileFailed>(&outcome)) ADD_FAILURE() << failed->log;
    return std::holds_alternative<Artifact>(outcome) ? std::get<Artifact>(outcome) : Artifact{};
  }
  static std::string log_of(const std::string& source) {
    auto outcome = compile(source);
    EXPECT_TRUE(std::holds_alternative<CompileFailed>(outcome));
    return std::holds_alternative<CompileFailed>(outcome) ? std::get<CompileFailed>(outcome).log : "";
  }

  static std::filesystem::path* folder_;
  static Sandbox* sandbox_;
  static Language* language_;
};
std::filesystem::path* CppLanguageTest::folder_ = nullptr;
Sandbox* CppLanguageTest::sandbox_ = nullptr;
Language* CppLanguageTest::language_ = nullptr;

constexpr const char* kDouble = R"(
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) y[i] = 2 * std::exp(x[i]);
}
)";

TEST_F(CppLanguageTest, ACacheFolderThatCannotBeWrittenHindersNoCompile) {
  const std::filesystem::path file = *folder_ / "not-a-folder";
  std::ofstream(file) << "x";
  CppLanguageOptions options;
  options.sandbox = sandbox_;
  options.cache = file;
  options.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  const auto language = make_cpp_language(options);
  ASSERT_TRUE(language) << language.error().message;
  CompileRequest request;
  request.source = kDouble;
  request.constants = {{"n", 1000}};
  const auto outcome = (*language)->compile(request);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(std::holds_alternative<Artifact>(*outcome));
}

TEST_F(CppLanguageTest, ACompilerThatCannotBeUsedIsNotCalledMissing) {
  const std::filesystem::path broken = *folder_ / "g++";
  std::ofstream(broken) << "#!/bin/sh\necho 'no space left' >&2\nexit 1\n";
  std::filesystem::permissions(broken, std::filesystem::perms::owner_all);
  CppLanguageOptions options;
  options.sandbox = sandbox_;
  options.cache = *folder_;
  options.environment = {{"PATH", folder_->string()}};
  const auto language = make_cpp_language(options);
  ASSERT_FALSE(language);
  EXPECT_EQ(language.error().message.find("no C++ compiler"), std::string::npos) << language.error().message;
  EXPECT_NE(language.error().message.find(broken.string()), std::string::npos) << language.error().message;
}

TEST_F(CppLanguageTest, CompilesAnHonestKernelWithoutAnythingToRemark) {
  const Artifact artifact = compiled(kDouble, {{"n", 1000}});
  EXPECT_EQ(artifact.language, "cpp");
  EXPECT_EQ(artifact.id.size(), 64u);
  EXPECT_TRUE(
      artifact.bytes.starts_with("\x7f"
                                 "ELF"));
  EXPECT_EQ(artifact.facts.writable_globals, std::vector<std::string>{});
  EXPECT_EQ(artifact.facts.forbidden_symbols, std::vector<std::string>{});
  EXPECT_EQ(artifact.facts.constructors, std::vector<std::string>{});
  ASSERT_EQ(artifact.facts.kernels.size(), 1u);
  EXPECT_EQ(artifact.facts.kernels[0].name, "kerf_kernel");
}

TEST_F(CppLanguageTest, ConstantsAreCompileTimeIntegersOfTheirSize) {
  compiled(R"(
static_assert(rows == 4096 && sizeof(rows) == 4 && minus == -3);
static_assert(huge == 5000000000LL && sizeof(huge) == 8);
extern "C" void kerf_kernel(const float* x, float* y) { float tile[rows]; tile[0] = x[0]; y[0] = tile[0]; }
)",
           {{"rows", 4096}, {"minus", -3}, {"huge", 5'000'000'000}});
}

TEST_F(CppLanguageTest, TheSameSourceGivesTheSameArtifact) {
  EXPECT_EQ(compiled(kDouble, {{"n", 1000}}).id, compiled(kDouble, {{"n", 1000}}).id);
  EXPECT_NE(compiled(kDouble, {{"n", 1000}}).id, compiled(kDouble, {{"n", 1001}}).id);
}

TEST_F(CppLanguageTest, ErrorsShowTheCandidatesOwnLinesAndNoFolders) {
  const std::string log = log_of("// one\n\nextern \"C\" void kerf_kernel(float* y) { y[0] = undeclared; }\n");
  EXPECT_NE(log.find("kernel.cpp:3:"), std::string::npos) << log;
  EXPECT_NE(log.find("undeclared"), std::string::npos) << log;
  EXPECT_EQ(log.find("/tmp"), std::string::npos) << log;
  EXPECT_EQ(log.find("/dev/shm"), std::string::npos) << log;
}

TEST_F(CppLanguageTest, LongLogsAreCut) {
  std::string source;
  for (int i = 0; i < 3000; ++i)
    source += "auto v" + std::to_string(i) + " = std::vector<undeclared_" + std::to_string(i) + ">{};\n";
  EXPECT_LT(log_of(source).size(), 7000u);
}

TEST_F(CppLanguageTest, AMissingEntryPointIsExplained) {
  const std::string log = log_of("void kerf_kernel(const float*, float*) {}\n");
  EXPECT_NE(log.find("extern \"C\" void kerf_kernel"), std::string::npos) << log;
}

TEST_F(CppLanguageTest, AnUndefinedFunctionIsAForbiddenImport) {
  const Artifact artifact =
      compiled("extern \"C\" void nowhere();\nextern \"C\" void kerf_kernel(float*) { nowhere(); }\n");
  EXPECT_EQ(artifact.facts.forbidden_symbols, std::vector<std::string>{"nowhere"});
}

TEST_F(CppLanguageTest, SeesStateThatSurvivesACall) {
  const Artifact artifact = compiled(R"(
static float cache[1024];
thread_local int calls = 1;
int initialised = 7;
static const float table[4] = {1, 2, 3, 4};
extern "C" void kerf_kernel(const float* x, float* y) {
  static long seen = 3;
  cache[calls++ % 1024] = x[0];
  y[0] = cache[(seen++ + initialised++) % 1024] + table[calls % 4];
}
)");
  const auto& globals = artifact.facts.writable_globals;
  const auto has = [&](const std::string& part) {
    return std::ranges::any_of(globals, [&](const auto& name) { return name.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(has("cache") && has("4096 bytes") && has("calls") && has("initialised") && has("seen"));
  EXPECT_FALSE(has("table"));
}

TEST_F(CppLanguageTest, SeesStateWithoutAName) {
  const Artifact artifact = compiled(R"(
asm(".data\n.skip 4096\n.text\n");
extern "C" void kerf_kernel(const float* x, float* y) { y[0] = x[0]; }
)");
  ASSERT_EQ(artifact.facts.writable_globals.size(), 1u);
  EXPECT_NE(artifact.facts.writable_globals[0].find("unnamed data in .data"), std::string::npos);
}

TEST_F(CppLanguageTest, SeesCodeThatRunsAtLoadTime) {
  const Artifact artifact = compiled(R"(
__attribute__((constructor)) static void early() { asm volatile(""); }
__attribute__((destructor)) static void late() { asm volatile(""); }
extern "C" void kerf_kernel(const float* x, float* y) { y[0] = x[0]; }
)");
  EXPECT_EQ(artifact.facts.constructors.size(), 2u);
}

TEST_F(CppLanguageTest, SeesCodeThatWouldRunAtExit) {
  const Artifact artifact = compiled(R"(
struct Last { ~Last() { asm volatile(""); } };
extern "C" void kerf_kernel(const float* x, float* y) { static Last last; y[0] = x[0]; atexit([] {}); }
)");
  EXPECT_EQ(artifact.facts.forbidden_symbols, std::vector<std::string>{"__cxa_atexit"});
}

TEST_F(CppLanguageTest, ImportsOutsideArithmeticAreNamed) {
  const Artifact artifact = compiled(R"(
#include <cstdio>
#include <unistd.h>
#include <sys/mman.h>
#include <dlfcn.h>
extern "C" void kerf_kernel(const float* x, float* y) {
  std::vector<float> copy(x, x + 100);
  y[0] = std::sin(copy[3]) + getpid();
  if (y[0] > 3) { std::puts("hello"); mmap(nullptr, 1, 0, 0, 0, 0); dlopen("x", 0); }
}
)");
  EXPECT_EQ(artifact.facts.forbidden_symbols, (std::vector<std::string>{"dlopen", "getpid", "mmap", "puts"}));
}

TEST_F(CppLanguageTest, SourceCannotReadOtherFiles) {
  const std::string log = log_of("#include \"/etc/passwd\"\nextern \"C\" void kerf_kernel(float*) {}\n");
  EXPECT_EQ(log.find("root:"), std::string::npos) << log;
  log_of("#include \"/dev/stdin\"\nextern \"C\" void kerf_kernel(float*) {}\n");
}

TEST_F(CppLanguageTest, ACompileThatNeverEndsIsACompileFailure) {
  CompileRequest request;
  request.source =
      "template <int a, int b> struct T { static constexpr long v = T<a - 1, b>::v + T<a - 1, b + 1>::v; };\n"
      "template <int b> struct T<0, b> { static constexpr long v = b; };\n"
      "constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) for (long j = 0; j < 30000; ++j) s ^= i * "
      "j; return s; }\n"
      "constexpr long a1 = f(1000), a2 = f(1001);\n"
      "static_assert(T<880, 0>::v != 1);\n"
      "extern \"C\" void kerf_kernel(float* y) { y[0] = a1 + a2; }\n";
  request.time_limit = std::chrono::milliseconds(300);
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = language_->compile(request);
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(std::holds_alternative<CompileFailed>(*outcome));
  EXPECT_NE(std::get<CompileFailed>(*outcome).log.find("longer than 300 ms"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(CppLanguageTest, CompilesSideBySide) {
  std::vector<std::string> ids(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&ids, i] { ids[static_cast<std::size_t>(i)] = compiled(kDouble, {{"n", 100 + i}}).id; });
  for (auto& thread : threads) thread.join();
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

TEST_F(CppLanguageTest, CalibrationKernelsCompileCleanly) {
  for (const auto& kernel : language_->calibration_kernels("")) {
    const Artifact artifact = compiled(kernel.source, {{"n", kernel.n}});
    EXPECT_EQ(artifact.facts.writable_globals, std::vector<std::string>{}) << kernel.peak;
    EXPECT_EQ(artifact.facts.forbidden_symbols, std::vector<std::string>{}) << kernel.peak;
    EXPECT_GT(kernel.work, 0);
  }
}

TEST_F(CppLanguageTest, ThePrecompiledHeaderIsBuiltOnce) {
  CppLanguageOptions options;
  options.sandbox = sandbox_;
  options.cache = *folder_;
  options.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  const auto begin = std::chrono::steady_clock::now();
  const auto again = make_cpp_language(options);
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->version(), language_->version());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(700));
}

TEST(CppLanguage, WithoutACompilerItSaysWhatToInstall) {
  const auto sandbox = make_sandbox();
  CppLanguageOptions options;
  options.sandbox = sandbox.get();
  options.cache = "/tmp";
  options.environment = {{"PATH", "/nowhere"}};
  const auto language = make_cpp_language(options);
  ASSERT_FALSE(language);
  EXPECT_EQ(language.error().code, Errc::unavailable);
  EXPECT_NE(language.error().message.find("install"), std::string::npos);
}

TEST(ElfFacts, RefusesWhatIsNoSharedObject) {
  EXPECT_FALSE(cpp::read_elf_facts(""));
  EXPECT_FALSE(cpp::read_elf_facts("#!/bin/sh"));
  std::string broken(200, '\xff');
  broken.replace(0, 4,
                 "\x7f"
                 "ELF");
  EXPECT_FALSE(cpp::read_elf_facts(broken));
}

TEST(ImportRules, LetArithmeticThroughAndNothingElse) {
  for (const char* name : {"expf", "exp", "_ZGVdN8v_expf", "memcpy", "GOMP_parallel", "omp_get_thread_num", "_Znwm",
                           "sincosf", "__extendhfsf2", "malloc", "lgammaf", "__truncsfbf2"}) {
    EXPECT_TRUE(cpp::import_is_allowed(name)) << name;
  }
  for (const char* name : {"fopen",
                           "system",
                           "pthread_create",
                           "fork",
                           "mmap",
                           "signal",
                           "sigaction",
                           "dlsym",
                           "atexit",
                           "__cxa_atexit",
                           "write",
                           "ptrace",
                           "getenv",
                           "clock_gettime",
                           "syscall",
                           "exit",
                           "omp_get_wtime",
                           "omp_display_env",
                           "omp_capture_affinity",
                           "omp_set_affinity_format"}) {
    EXPECT_FALSE(cpp::import_is_allowed(name)) << name;
  }
}

}  // namespace
}  // namespace kerf
