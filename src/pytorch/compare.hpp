#pragma once
// A kernel beside the PyTorch model that it replaces: eager PyTorch, torch.compile and the kernel (a Python file that
// defines ModelNew) checked and timed in turn, in one Python process of the user's. Whatever goes wrong with one of
// them is part of the answer; an Error is left for what makes the question senseless.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/statistics.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf::pytorch {

class BridgeServer;

struct CompareRequest {
  std::filesystem::path model;              ///< the original: Model, get_inputs, get_init_inputs
  std::filesystem::path kernel;             ///< defines ModelNew; not looked at when `wait_for` is given
  std::filesystem::path wait_for{};         ///< all that needs no kernel is done at once, the rest when this file
                                            ///< is there (begin_comparison); it is removed then
  std::chrono::milliseconds wait_limit{0};  ///< for that file, beyond time_limit
  std::map<std::string, std::string> environment;   ///< of the process, as in ImportRequest
  std::string device;                               ///< where PyTorch runs: "cpu" or "cuda"
  std::uint64_t seed = 42;                          ///< of weights and input draws; 42 is KernelBench's
  int draws = 3;                                    ///< inputs on which outputs are compared, at most
  bool compile = true;                              ///< torch.compile too
  int threads = 0;                                  ///< of PyTorch on the processor; 0: as many as it takes by itself
  std::chrono::milliseconds timing{10000};          ///< for the timed rounds
  std::chrono::milliseconds compile_limit{120000};  ///< then torch.compile counts as timed out
  std::chrono::milliseconds time_limit{std::chrono::minutes(10)};  ///< of the process
  std::int64_t memory_bytes = 0;                                   ///< host memory; 0: the machine's
};

/// How one of the three did. The names are stored.
enum class ProgramStatus {
  measured,
  not_asked,    ///< torch.compile, when the request leaves it out
  unavailable,  ///< this PyTorch has no torch.compile, or not for this Python
  failed,       ///< it raised; `message` says what
  wrong,        ///< neither KernelBench's rule nor the errors against f64 let its outputs pass; timed all the same
  out_of_memory,
  timed_out,
  crashed,  ///< the process ended
};
std::string_view name_of(ProgramStatus status);

struct Times {
  double median_us = 0;
  Interval interval_us;  ///< 95 %, of the median
  int samples = 0;
};

/// A ratio of times taken in turn: above 1 the kernel is faster.
struct Ratio {
  double ratio = 0;
  Interval interval;  ///< 95 %, bootstrapped over rounds
};

/// Against the model computed in double precision, over the root mean square of the expected output.
struct Errors {
  double rms = 0;
  double worst = 0;
};

struct Program {
  ProgramStatus status = ProgramStatus::not_asked;
  std::string message;  ///< what was raised; "" when it was measured
  std::optional<Times> times;
  std::optional<Errors> errors;
  double prepare_seconds = 0;  ///< building it and its first call: compile time
};

/// KernelBench's own rule, as its evaluator applies it: shapes equal, allclose at 1e-4 (f32) or 1e-2 (f16, bf16).
struct KernelBenchVerdict {
  bool decided = false;  ///< false: no draw could be compared
  bool correct = false;
  int draws = 0, passed = 0;
  double tolerance = 0;
  double worst = 0;     ///< largest |difference| to eager PyTorch
  std::string problem;  ///< "shapes (2, 3) and (2, 4)"; "" when it is correct
};

/// A result that this task's inputs let pass though it is not computed: "zeros", "constant", "mean", "first_input",
/// "an_input", "another_draw". Such a task does not tell right from wrong by KernelBench's rule.
struct WeakOutput {
  std::string kind;
  std::string output;  ///< "" when forward gives one tensor; else its number
};

struct Comparison {
  Program eager, compiled, kernel;
  std::optional<Ratio> over_eager, over_compiled;  ///< of the kernel
  KernelBenchVerdict kernelbench;
  std::optional<Ratio> compiled_over_eager;
  std::string accuracy_class = "undecided";  ///< of eager, as measured: f64, f32, tf32, f16, bf16
  std::string class_evidence;                ///< what decided it, in words
  std::optional<bool> in_class;              ///< the kernel's errors are no larger than eager's; none: no f64 reference
  std::string double_precision;              ///< how the f64 reference was had: "full", "part", or why there is none
  std::vector<WeakOutput> weak;
  std::optional<bool> hard_inputs;  ///< where outputs are weak: right by KernelBench's rule on inputs of both signs?
  std::vector<std::string> notes;   ///< for people: what was left out for lack of memory or time
  std::string torch, device, device_name, python;
  std::uint64_t seed = 0;
  bool complete = true;  ///< false: the process ended before all was done, and this is what it had by then
};

/// Whether the kernel was right and both it and eager PyTorch were timed.
bool usable(const Comparison& comparison);
/// "PyTorch 2.11 eager 1.23 ms, torch.compile 0.98 ms, this kernel 0.61 ms: 2.02x (1.95 to 2.10) and 1.61x (1.5
/// to 1.7)" and what else a person should know, one thing a line.
std::vector<std::string> in_words(const Comparison& comparison);

std::string to_json(const Comparison& comparison);  ///< schema 1, one line
Result<Comparison> comparison_from_json(const std::string& text);

/// Lets a comparison that waits for `wait_for` go on, with this kernel and these limits.
Status begin_comparison(const std::filesystem::path& wait_for, const std::filesystem::path& kernel,
                        std::chrono::milliseconds timing, std::chrono::milliseconds time_limit);

/// invalid_input: a file is missing or no Python was named that exists. unavailable: no Python with PyTorch.
Result<Comparison> compare_with_pytorch(const CompareRequest& request, Sandbox& sandbox);
/// The same by a server, which has imported PyTorch already.
Result<Comparison> compare_with_pytorch(const CompareRequest& request, BridgeServer& server);

}  // namespace kerf::pytorch
