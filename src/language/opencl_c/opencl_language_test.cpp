#include "language/opencl_c/opencl_language.hpp"

#include <stdlib.h>

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace kerf {
namespace {

std::filesystem::path g_self;

struct Environment {
  std::unique_ptr<Sandbox> sandbox = make_sandbox();
  std::filesystem::path cache;
  std::unique_ptr<Language> language;
  std::string missing;

  Environment() {
    char name[] = "/tmp/kerf-opencl-language-XXXXXX";
    cache = ::mkdtemp(name);
    OpenclOptions options;
    options.self = g_self;
    options.cache = cache;
    options.sandbox = sandbox.get();
    options.compile_jobs = 2;
    // Which driver to test: OCL_ICD_FILENAMES=libnvidia-opencl.so.1 tests NVIDIA's.
    for (const char* variable : {"PATH", "LD_LIBRARY_PATH", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"}) {
      if (const char* value = ::getenv(variable)) options.environment[variable] = value;
    }
    auto made = make_opencl_language(options);
    if (made) language = std::move(*made);
    if (!made) missing = made.error().message;
  }
  ~Environment() {
    language.reset();
    std::error_code ignored;
    std::filesystem::remove_all(cache, ignored);
  }
};

Environment& environment() {
  static Environment shared;
  return shared;
}

class OpenclLanguage : public testing::Test {
 protected:
  void SetUp() override {
    if (!environment().language) GTEST_SKIP() << "no OpenCL here: " << environment().missing;
  }

  CompileOutcome compile(const std::string& source, std::vector<std::string> entry_points = {"k"},
                         Bindings constants = {}, std::chrono::milliseconds limit = std::chrono::milliseconds(20000)) {
    auto outcome = environment().language->compile({source, std::move(constants), "", std::move(entry_points), limit});
    if (!outcome) {
      ADD_FAILURE() << outcome.error().message;
      return CompileFailed{"no compiler"};
    }
    return *std::move(outcome);
  }
  Artifact built(const CompileOutcome& outcome) {
    if (const auto* artifact = std::get_if<Artifact>(&outcome)) return *artifact;
    ADD_FAILURE() << std::get<CompileFailed>(outcome).log;
    return {};
  }
  std::string log_of(const CompileOutcome& outcome) {
    if (const auto* failed = std::get_if<CompileFailed>(&outcome)) return failed->log;
    ADD_FAILURE() << "it compiled";
    return "";
  }
  /// Candidates run in a process of this machine, not on a GPU.
  static bool on_pocl() { return environment().language->version().starts_with("Portable Computing Language"); }

  /// Refused before it can run: by the compiler, or by a fact that the static budget refuses.
  std::string refusal(const std::string& source) {
    const auto outcome = compile(source);
    if (const auto* failed = std::get_if<CompileFailed>(&outcome)) return failed->log;
    const auto& facts = std::get<Artifact>(outcome).facts;
    return join(facts.forbidden_symbols, ",") + join(facts.writable_globals, ",") + join(facts.constructors, ",");
  }
};

TEST_F(OpenclLanguage, CompilesAKernelToABinaryWithItsFacts) {
  const auto artifact =
      built(compile("__kernel void k(__global float* x) {\n"
                    "  __local float t[64];\n"
                    "  t[get_local_id(0)] = x[get_global_id(0)];\n"
                    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                    "  x[get_global_id(0)] = exp(t[63 - get_local_id(0)]) + printf_is_no_word;\n}\n",
                    {"k"}, {{"printf_is_no_word", 1}}));
  EXPECT_EQ(artifact.language, "opencl_c");
  EXPECT_FALSE(artifact.bytes.empty());
  EXPECT_EQ(artifact.id.size(), 64u);
  EXPECT_EQ(artifact.facts.forbidden_symbols, std::vector<std::string>{});
  EXPECT_EQ(artifact.facts.writable_globals, std::vector<std::string>{});
  EXPECT_EQ(artifact.facts.constructors, std::vector<std::string>{});
  ASSERT_EQ(artifact.facts.kernels.size(), 1u);
  EXPECT_EQ(artifact.facts.kernels[0].name, "k");
  EXPECT_GE(artifact.facts.kernels[0].shared_bytes, 256);
  EXPECT_LE(artifact.facts.kernels[0].shared_bytes, 512);
  EXPECT_GT(artifact.facts.kernels[0].max_threads, 0);
}

TEST_F(OpenclLanguage, ConstantsAreVisibleAndMayBeHidden) {
  built(
      compile("__kernel void k(__global long* x) { float t[rows]; t[0] = 1; x[0] = large + (long)t[0];\n"
              "  for (int rows = 0; rows < 3; ++rows) x[rows] = rows; }\n"
              "typedef char check[rows == 33 && large == 6000000000 && length == 4 ? 1 : -1];",
              {"k"}, {{"rows", 33}, {"large", 6000000000}, {"length", 4}}));
}

TEST_F(OpenclLanguage, DiagnosticsShowTheCandidatesOwnLines) {
  const auto log = log_of(compile("// one\n// two\n__kernel void k(__global float* x) {\n  x[0] = unknown;\n}\n", {"k"},
                                  {{"rows", 3}, {"cols", 4}}));
  EXPECT_NE(log.find("kernel.cl:4:10: error: use of undeclared identifier 'unknown'"), std::string::npos) << log;
  EXPECT_NE(log.find("x[0] = unknown;"), std::string::npos) << log;
  EXPECT_EQ(log.find("/tmp"), std::string::npos) << log;
}

TEST_F(OpenclLanguage, AMissingEntryPointNamesTheKernelsThatExist) {
  const auto log = log_of(compile("__kernel void first(__global float* x) { x[0] = 1; }", {"frist"}));
  EXPECT_NE(log.find("'frist'"), std::string::npos) << log;
  EXPECT_NE(log.find("did you mean 'first'"), std::string::npos) << log;
  EXPECT_FALSE(log_of(compile("float f(float x) { return x; }", {})).empty());
}

TEST_F(OpenclLanguage, InlineAssemblyIsForbiddenEvenWhenPastedTogether) {
  const auto plain = refusal("__kernel void k(__global float* x) { __asm__ volatile(\"\"); x[0] = 1; }");
  EXPECT_NE(plain.find("inline assembly"), std::string::npos) << plain;
  const auto pasted = refusal(
      "#define J(a, b) a##b\n"
      "__kernel void k(__global float* x) { J(__as, m__) volatile(\"nop\"); x[0] = 1; }");
  // PoCL 5 crashes on assembly without operands; NVIDIA's compiler takes only its own.
  EXPECT_TRUE(pasted == "inline assembly" || pasted.find("crashed") != std::string::npos ||
              pasted.find("error") != std::string::npos)
      << pasted;
}

TEST_F(OpenclLanguage, PrintfIsForbidden) {
  const auto refused =
      refusal("#define J(a, b) a##b\n__kernel void k(__global float* x) { x[0] = J(print, f)(\"%d\", 1); }");
  EXPECT_NE(refused.find("printf"), std::string::npos) << refused;
}

TEST_F(OpenclLanguage, FunctionsOfTheHostProcessAreRefused) {
  const auto call = [&](const std::string& declaration, const std::string& expression) {
    return refusal(declaration + ";\n__kernel void k(__global float* x) { x[0] = " + expression + "; }");
  };
  const auto has = [](const std::string& text, const char* word) { return text.find(word) != std::string::npos; };
  EXPECT_PRED2(has, call("int system(__constant char*)", "system(\"true\")"), "system");
  EXPECT_PRED2(has, call("int exit(int)", "exit(0)"), "exit");
  EXPECT_PRED2(has, call("void* malloc(ulong)", "(ulong)malloc(8)"), "malloc");
  // PoCL's own printf needs this one, so its linker lets it pass.
  EXPECT_PRED2(has, call("int snprintf(char*, ulong, __constant char*)", "snprintf((char*)0, 0, \"x\")"), "snprintf");
  if (on_pocl()) {
    EXPECT_NE(call("extern __constant int environ", "environ"), "");
  }
}

TEST_F(OpenclLanguage, WritableProgramVariablesAndConstructorsAreRefused) {
  const auto variable = refusal("__global int counter = 0;\n__kernel void k(__global float* x) { x[0] = counter++; }");
  EXPECT_NE(variable.find("program scope variable"), std::string::npos) << variable;
  if (!on_pocl()) return;  // code for a GPU has none
  const auto constructor =
      refusal("__attribute__((constructor)) void early(void) {}\n__kernel void k(__global float* x) { x[0] = 1; }");
  EXPECT_NE(constructor.find("llvm.global_ctors"), std::string::npos) << constructor;
}

TEST_F(OpenclLanguage, TwoCompilesRunSideBySide) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      const auto artifact = built(compile("__kernel void k(__global float* x) { x[0] = " + std::to_string(i) + "; }"));
      EXPECT_FALSE(artifact.bytes.empty());
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_F(OpenclLanguage, ACompilePastItsLimitFailsAndTheNextOneWorks) {
  const std::string source = "__kernel void k(__global float* x) { x[0] = exp(x[1]) + sin(x[2]); }";
  const auto log = log_of(compile(source, {"k"}, {}, std::chrono::milliseconds(1)));
  EXPECT_NE(log.find("did not finish within 1 ms"), std::string::npos) << log;
  built(compile(source));
}

TEST_F(OpenclLanguage, CalibrationKernelsCompile) {
  const auto kernels = environment().language->calibration_kernels("");
  ASSERT_GE(kernels.size(), 2u);
  for (const auto& kernel : kernels) {
    EXPECT_GT(kernel.work, 0) << kernel.peak;
    built(compile(kernel.source, {}, {{"n", kernel.n}}));
  }
}

TEST_F(OpenclLanguage, VersionNamesTheDriver) {
  EXPECT_NE(environment().language->version().find("-cl-std="), std::string::npos);
  EXPECT_EQ(environment().language->version().find("fast"), std::string::npos);
}

}  // namespace
}  // namespace kerf

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + std::min(argc, 3), argv + argc);
  if (argc > 2 && std::string(argv[1]) == "worker") {
    return std::string(argv[2]) == "opencl-probe" ? kerf::opencl_probe_main(args) : kerf::opencl_compile_main(args);
  }
  kerf::g_self = std::filesystem::read_symlink("/proc/self/exe");
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
