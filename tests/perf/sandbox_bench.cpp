// What the walls cost: a trivial program in the sandbox, a small compile, loading a kernel, an empty batch.
// Run by hand on an idle machine: sandbox_bench [ROUNDS]

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "device/cpu/cpu_device.hpp"
#include "language/cpp/cpp_language.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf {
namespace {

using namespace std::chrono_literals;

void report(const char* what, int rounds, const std::function<void()>& body) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  fmt::print("{:<34} median {:9.1f} us   best {:9.1f} us   worst tenth {:9.1f} us\n", what, median(times),
             quantile(times, 0), quantile(times, 0.9));
}

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "sandbox_bench: {}\n", why);
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result) stop(result.error().message);
  return *std::move(result);
}

void run_plain() {
  char program[] = "/bin/true";
  char* argv[] = {program, nullptr};
  pid_t pid = 0;
  if (::posix_spawn(&pid, program, nullptr, nullptr, argv, nullptr) == 0) ::waitpid(pid, nullptr, 0);
}

int run(int rounds) {
  const auto sandbox = make_sandbox();
  SandboxCommand command;
  command.argv = {"/bin/true"};
  report("/bin/true, plain", rounds, run_plain);
  report("/bin/true, sandboxed", rounds, [&] { must(sandbox->run(command)); });

  const auto self = std::filesystem::canonical("/proc/self/exe");
  const auto cache = std::filesystem::temp_directory_path() / "kerf-test-cache";
  const auto language = must(make_cpp_language({sandbox.get(), cache, {{"PATH", "/usr/local/bin:/usr/bin:/bin"}}, 0}));
  CompileRequest request;
  request.source =
      "extern \"C\" void kerf_kernel(const float* x, float* y) {\n"
      "#pragma omp parallel for\n  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n";
  request.constants = {{"n", 1 << 20}};
  CompileOutcome compiled;
  report("compile a small kernel", rounds / 10, [&] { compiled = must(language->compile(request)); });
  request.source = "extern \"C\" void kerf_kernel(const float*, float*) {}\n";
  const CompileOutcome empty = must(language->compile(request));

  CpuDeviceOptions options;
  options.self = self;
  options.sandbox = sandbox.get();
  const auto device = must(make_cpu_device(options));
  ProblemLayout layout;
  layout.buffers = {{"x", DType::f32, {1 << 20}, BufferRole::input}, {"y", DType::f32, {1 << 20}, BufferRole::output}};
  layout.slots = 8;
  const auto bench = must(device->open(layout));
  const auto load = [&](const CompileOutcome& outcome) {
    return std::get<KernelHandle>(must(bench->load(std::get<Artifact>(outcome), {}, request.constants)));
  };
  report("load and unload a kernel", rounds / 10, [&] { bench->unload(load(compiled)); });
  const KernelHandle nothing = load(empty), doubling = load(compiled);
  const std::vector<int> one = {0}, all = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto batch = [&](KernelHandle kernel, const std::vector<int>& slots) {
    return [&, kernel, slots] {
      if (std::holds_alternative<Fault>(must(bench->run(kernel, slots, 5s)))) stop("the kernel failed");
    };
  };
  report("empty kernel, batch of 1", rounds, batch(nothing, one));
  report("empty kernel, batch of 8", rounds, batch(nothing, all));
  report("y = 2 x over 4 MiB, batch of 8", rounds, batch(doubling, all));
  return 0;
}

}  // namespace
}  // namespace kerf

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "worker") return kerf::cpu_worker_main({});
  return kerf::run(argc > 1 ? std::max(10, std::atoi(argv[1])) : 200);
}
