#include "report/fixture_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "archive/archive.hpp"
#include "base/hash.hpp"
#include "base/rng.hpp"
#include "inspect/descriptors.hpp"
#include "store/run_store.hpp"
#include "task/task.hpp"

namespace kerf::report {
namespace {

constexpr const char* kTask = R"(name = "rmsnorm"
description = "Root-mean-square norm of each row, scaled by a weight per column"

[inputs]
x = "f32[rows, cols]"
w = "f32[cols]"

[shapes]
wide = { rows = 96, cols = 1024, weight = 2 }
tall = { rows = 512, cols = 128, weight = 1 }
tail = { rows = 33, cols = 101 }

[reference]
expr = "y = x * rsqrt(mean(x*x, axis=-1, keepdims=true) + 1e-6) * w"
outputs = ["y"]
)";

constexpr const char* kCpuRow = R"(#include <cmath>

extern "C" void kerf_kernel(const float* x, const float* w, float* y) {
  for (long r = 0; r < rows; ++r) {
    const float* in = x + r * (long)cols;
    float* out = y + r * (long)cols;
    float sum = 0;
    for (long c = 0; c < cols; ++c) sum += in[c] * in[c];
    const float scale = 1.0f / std::sqrt(sum / cols + 1e-6f);
    for (long c = 0; c < cols; ++c) out[c] = in[c] * scale * w[c];
  }
}
)";

constexpr const char* kCpuPlain = R"(#include <cmath>

// One element at a time; every element sums its row again.
extern "C" void kerf_kernel(const float* x, const float* w, float* y) {
  for (long i = 0; i < (long)rows * cols; ++i) {
    const float* in = x + i / cols * (long)cols;
    float sum = 0;
    for (long c = 0; c < cols; ++c) sum += in[c] * in[c];
    y[i] = x[i] / std::sqrt(sum / cols + 1e-6f) * w[i % cols];
  }
}
)";

constexpr const char* kCpuLanes = R"(#include <cmath>

namespace {

/// Sum of squares in UNROLL * 8 independent lanes, so that the compiler can use vectors.
inline float sum_of_squares(const float* in) {
  constexpr int lanes = UNROLL * 8;
  float part[lanes] = {};
  long c = 0;
  for (; c + lanes <= cols; c += lanes)
    for (int l = 0; l < lanes; ++l) part[l] += in[c + l] * in[c + l];
  float sum = 0;
  for (; c < cols; ++c) sum += in[c] * in[c];
  for (int l = 0; l < lanes; ++l) sum += part[l];
  return sum;
}

}  // namespace

extern "C" void kerf_kernel(const float* x, const float* w, float* y) {
@@PRAGMA  for (long r = 0; r < rows; ++r) {
    const float* in = x + r * (long)cols;
    float* out = y + r * (long)cols;
    const float scale = 1.0f / std::sqrt(sum_of_squares(in) / cols + 1e-6f);
    for (long c = 0; c < cols; ++c) out[c] = in[c] * scale * w[c];
  }
}
)";

constexpr const char* kOpenClBody = R"(
__kernel void square_sums(__global const float* x, __global float* total) {
  __local float part[BLOCK];
  const int row = get_group_id(0), me = get_local_id(0);
  float sum = 0;
  for (long c = me; c < cols; c += BLOCK) {
    const float v = x[row * (long)cols + c];
    sum += v * v;
  }
  part[me] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int span = BLOCK / 2; span > 0; span /= 2) {
    if (me < span) part[me] += part[me + span];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (me == 0) total[row] = part[0];
}

__kernel void scale_rows(__global const float* x, __global const float* w, __global const float* total, __global float* y) {
  const long i = get_global_id(0) * (long)UNROLL;
  for (long k = i; k < i + UNROLL && k < (long)rows * cols; ++k)
    y[k] = x[k] / sqrt(total[k / cols] / cols + 1e-6f) * w[k % cols];
}
)";

constexpr const char* kCudaBody = R"(
extern "C" __global__ void square_sums(const float* x, float* total) {
  __shared__ float part[BLOCK];
  const int row = blockIdx.x, me = threadIdx.x;
  float sum = 0;
  for (long long c = me; c < cols; c += BLOCK) {
    const float v = x[row * (long long)cols + c];
    sum += v * v;
  }
  part[me] = sum;
  __syncthreads();
  for (int span = BLOCK / 2; span > 0; span /= 2) {
    if (me < span) part[me] += part[me + span];
    __syncthreads();
  }
  if (me == 0) total[row] = part[0];
}

extern "C" __global__ void scale_rows(const float* x, const float* w, const float* total, float* y) {
  const long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * UNROLL;
  for (long long k = i; k < i + UNROLL && k < (long long)rows * cols; ++k)
    y[k] = x[k] / sqrtf(total[k / cols] / cols + 1e-6f) * w[k % cols];
}
)";

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const auto at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

std::string values_from(int first, std::initializer_list<int> all) {
  std::string text = std::to_string(first);
  for (const int value : all)
    if (value != first) text += ", " + std::to_string(value);
  return text;
}

/// One way through the played search.
class Player {
 public:
  Player(RunStore& store, const FixtureOptions& options)
      : store_(store),
        options_(options),
        rng_(options.seed),
        task_id_(parse_task(kTask, "", "rmsnorm.toml").value().id) {}

  Status play() {
    for (int level = 0; level < 3; ++level) KERF_TRY_VOID(add_start(level));
    while (number_ < options_.steps - 16) KERF_TRY_VOID(add_search());
    KERF_TRY_VOID(add_odd_sources());
    while (number_ < options_.steps - 3) KERF_TRY_VOID(add_look());
    KERF_TRY_VOID(add_tuned(64, 1));
    KERF_TRY_VOID(add_tuned(128, 4));
    return confirm();
  }
  std::int64_t best() const { return best_; }
  double seconds() const { return seconds_; }

 private:
  struct Known {
    int level = 0, block = 64, unroll = 1;
  };

  Status add_start(int level) {
    Step step = make(Stage::start, "start", level, 64, 1);
    step.change = fmt::format("rows/{}", variant(level));
    return finish(step, {level, 64, 1});
  }

  Status add_search() {
    const auto elites = archive_.elites();
    const Elite& parent = elites[static_cast<std::size_t>(
        rng_.integer(0, std::min<std::int64_t>(4, static_cast<std::int64_t>(elites.size()) - 1)))];
    Known next = known_[parent.step];
    const double draw = rng_.uniform();
    std::string operation = "parameter", change;
    if (draw < 0.5) {
      const int block = 32 << rng_.integer(0, 4), unroll = 1 << rng_.integer(0, 3);
      change = fmt::format("g0 BLOCK {} -> {}, UNROLL {} -> {}", next.block, block, next.unroll, unroll);
      next.block = block, next.unroll = unroll;
    } else if (draw < 0.7) {
      operation = "family";
      const int level = std::min(3, next.level + 1);
      change = fmt::format("g0 rows/{} -> rows/{}", variant(next.level), variant(level));
      next.level = level;
    } else if (draw < 0.85) {
      operation = "fusion";
      change = "g0 split after mean#1";
    } else {
      operation = "crossover";
      change = fmt::format("g0 from step {}", elites[0].step);
    }
    Step step = make(Stage::search, operation, next.level, next.block, next.unroll);
    step.parents = {parent.step};
    if (operation == "crossover" && elites[0].step != parent.step) step.parents.push_back(elites[0].step);
    step.change = change;
    const int dimension = static_cast<int>(rng_.integer(0, kDimensions - 1));
    step.direction = fmt::format("{}{:+d}", dimension_name(dimension), static_cast<int>(rng_.integer(-1, 1)));
    if (rng_.chance(0.3)) fail_somehow(step);
    return finish(step, next);
  }

  /// Text that must not break whatever shows it.
  Status add_odd_sources() {
    Step step = make(Stage::search, "restart", 1, 64, 1);
    step.name = "rows/<script>alert('name')</script>\x1b[2J";
    step.change = "from a \"quoted\" & <b>bold</b> place";
    step.source = "// </script><script>document.title='broken'</script> <!-- \xff\xfe \xe2\x82\xac -->\n" + step.source;
    step.evaluation.candidate_id = sha256_hex(step.source);
    KERF_TRY_VOID(finish(step, {1, 64, 1}));
    Step failed = make(Stage::search, "restart", 0, 64, 1);
    failed.evaluation.outcome =
        BuildFailed{"wide", "k.cpp:3:1: error: expected ';' before '</script><img src=x onerror=alert(1)>'"};
    return finish(failed, {0, 64, 1});
  }

  /// A quick timing: checked on the smallest shape, timed without baselines, no verdict.
  Status add_look() {
    const Known next{3, 32 << rng_.integer(0, 4), 1 << rng_.integer(0, 3)};
    Step step = make(Stage::tune, kTrialOperation, 3, 64, 1);
    step.tunables = {{"BLOCK", next.block}, {"UNROLL", next.unroll}};
    step.change = "a quick timing of other values";
    return finish(step, next);
  }

  Status add_tuned(int block, int unroll) {
    Step step = make(Stage::tune, "tune", 3, 64, 1);
    step.tunables = {{"BLOCK", block}, {"UNROLL", unroll}};
    step.change = fmt::format("BLOCK = {}, UNROLL = {}", block, unroll);
    return finish(step, {3, block, unroll}, unroll == 4 ? 1.12 : 1);
  }

  Status confirm() {
    Step step = make(Stage::final, "confirm", 3, 64, 1);
    step.tunables = {{"BLOCK", 128}, {"UNROLL", 4}};
    step.change = fmt::format("step {} measured again", best_);
    return finish(step, {3, 128, 4}, 1.12);
  }

  static std::string variant(int level) {
    static constexpr const char* kNames[] = {"plain", "row", "lanes", "blocks"};
    return kNames[level];
  }

  Step make(Stage stage, const std::string& operation, int level, int block, int unroll) {
    Step step;
    step.number = ++number_;
    step.stage = stage;
    step.proposer = "builtin";
    step.operation = operation;
    step.name = "rows/" + variant(level);
    step.source = fixture_kernel(options_.target, level, block, unroll);
    step.genome = fmt::format(R"({{"form":0,"genes":[{{"root":7,"family":"rows","variant":"{}"}}]}})", variant(level));
    if (level >= 2 || options_.target != "cpu") step.tunables = {{"BLOCK", block}, {"UNROLL", unroll}};
    Evaluation& e = step.evaluation;
    e.task = "rmsnorm";
    e.task_id = task_id_;
    e.target = options_.target;
    e.device = "Example processor (8 cores)";
    e.candidate = step.name;
    e.candidate_id = sha256_hex(step.source);
    e.toolchain = "g++ 12.2.0 -O3 -march=native; kerf 0.1.0";
    e.tunables = step.tunables;
    e.seed = options_.seed;
    e.tiers = {{"parse", 0.1}, {"compile", 240}, {"static", 0.2}, {"small shape", 9}, {"all shapes", 21}};
    step.evaluation.outcome = Measurement{};
    return step;
  }

  void fail_somehow(Step& step) {
    Evaluation& e = step.evaluation;
    switch (rng_.integer(0, 5)) {
      case 0: e.outcome = BuildFailed{"wide", "kernel.cpp:12:9: error: 'lanes' was not declared in this scope"}; break;
      case 1: e.outcome = Crashed{Gate::small_shape, "killed by SIGSEGV: read 64 bytes past the end of x"}; break;
      case 2: e.outcome = TimedOut{Gate::all_shapes, "a call on shape 'wide' took longer than 1.9 s"}; break;
      case 3:
        e.outcome = Rejected{Gate::duplicate, "the compiled code is that of step 1"};
        step.descriptors = to_json(Descriptors{{0, 0, 0}, {}, {"plain", "plain", "plain"}, "object code"}, "code");
        break;
      case 4: e.outcome = Rejected{Gate::static_budget, "writable global memory: cache (4096 bytes)"}; break;
      default: {
        WrongResult wrong{Gate::values, "113 of 3333 elements of y are wrong on shape 'tail'", WrongEvidence{}};
        *wrong.evidence = {"y", "tail", "normal", 113, 3333, {4, 100}, 0.731, 12.25, 1.2e-6, {0, 96}, {32, 100}};
        e.outcome = wrong;
      }
    }
  }

  /// Times that a kernel of this kind would have, with noise.
  Measurement measure(const Known& known, double bonus) {
    static constexpr double kLevel[] = {0.7, 1.6, 4.2, 7.9};
    const double block = 1 - 0.06 * std::abs(std::log2(known.block / 128.0));
    const double unroll = 1 - 0.09 * std::abs(std::log2(known.unroll / 4.0));
    const double speedup =
        options_.speed * kLevel[known.level] * block * unroll * bonus * std::exp(0.02 * rng_.normal());
    Measurement measurement;
    measurement.speedup = {"naive", speedup, speedup * 0.97, speedup * 1.028};
    const auto shape = [&](const char* name, double weight, double naive_us, double floor_us, double favour) {
      ShapeMeasurement one;
      one.shape = name;
      one.weight = weight;
      const double us = naive_us / (speedup * favour);
      one.time = {us, us * 0.975, us * 1.03, 30};
      one.baselines["naive"] = {naive_us, naive_us * 0.98, naive_us * 1.02, 30};
      one.speedups["naive"] = {"naive", speedup * favour, speedup * favour * 0.96, speedup * favour * 1.04};
      if (options_.peaks) one.speed_of_light = SpeedOfLight{floor_us, floor_us / us, "memory"};
      measurement.shapes.push_back(one);
    };
    // Tall shapes prefer less unrolling, so that tuning finds a winner per shape; the weighted mean stays `speedup`.
    const double taste = known.level == 3 ? std::pow(1.35, 2 - std::log2(known.unroll)) : 1.0;
    shape("wide", 2, 412, 38, std::pow(taste, -0.5));
    shape("tall", 1, 286, 26, taste);
    return measurement;
  }

  /// What the timed shapes took, and where it belongs; trials have times only.
  void settle(Step& step, const Known& known, double bonus) {
    Measurement measurement = measure(known, bonus);
    step.evaluation.tunables = step.tunables;
    if (step.operation == kTrialOperation) {
      measurement.speedup = {};
      for (auto& shape : measurement.shapes) shape.baselines.clear(), shape.speedups.clear();
      step.evaluation.notes = {"quick timing while tuning, not a verdict"};
    } else {
      step.cell = {known.level, std::min(3, known.level / 2 + (known.unroll > 2 ? 1 : 0)),
                   known.level == 3 ? 1 + (known.block > 64 ? 1 : 0) : 0};
      step.evaluation.cell = step.cell;
      const Descriptors seen{step.cell,
                             {{"vector_bytes", known.level >= 2 ? 32 : 4}, {"fma", known.unroll * 8}},
                             {known.level >= 2 ? "32-byte loads" : "plain", "multiply-adds in one pass",
                              known.level == 3 ? "rows shared between threads" : "plain"},
                             "object code"};
      step.descriptors = to_json(seen, sha256_hex(step.source));
    }
    step.evaluation.outcome = std::move(measurement);
  }

  Status finish(Step step, const Known& known, double bonus = 1) {
    if (std::holds_alternative<Measurement>(step.evaluation.outcome)) settle(step, known, bonus);
    if ((step.stage == Stage::tune || step.stage == Stage::final) && best_ != 0) step.parents = {best_};
    seconds_ += 0.4 + rng_.uniform();
    step.seconds = seconds_;
    known_[step.number] = known;
    if (step.operation == kTrialOperation) {
      step.decision = "a quick timing, not a verdict";
    } else if (step.stage == Stage::final) {
      step.decision = "measured again, thoroughly and on fresh data";
      step.kept = true;
      best_ = step.number;
    } else {
      const Decision decision = archive_.insert({step.number, step.parents, step.evaluation, step.cell});
      step.kept = decision.kept;
      step.decision = decision.sentence;
      if (const Elite* best = archive_.best()) best_ = best->step;
    }
    return store_.append(step);
  }

  RunStore& store_;
  const FixtureOptions& options_;
  Rng rng_;
  std::string task_id_;
  Archive archive_;
  std::map<std::int64_t, Known> known_;
  std::int64_t number_ = 0, best_ = 0;
  double seconds_ = 0;
};

}  // namespace

std::string fixture_task() { return kTask; }

std::string fixture_kernel(const std::string& target, int level, int block, int unroll) {
  const std::string tune = fmt::format("tune:    BLOCK = {{{}}}\ntune:    UNROLL = {{{}}}\n",
                                       values_from(block, {32, 64, 128, 256, 512}), values_from(unroll, {1, 2, 4, 8}));
  if (target == "cpu") {
    if (level < 2) return std::string("/* kerf\ntarget:  cpu\n*/\n") + (level == 0 ? kCpuPlain : kCpuRow);
    const char* pragma = level == 3 ? "#pragma omp parallel for schedule(static, BLOCK)\n" : "";
    return "/* kerf\ntarget:  cpu\n" + tune + "*/\n" + replaced(kCpuLanes, "@@PRAGMA", pragma);
  }
  return fmt::format(
             "/* kerf\ntarget:  {}\n{}scratch: total = f32[rows]\n"
             "launch:  square_sums<<<rows, BLOCK>>>(x, total)\n"
             "launch:  scale_rows<<<ceil_div(rows * cols, BLOCK * UNROLL), BLOCK>>>(x, w, total, y)\n*/\n{}",
             target, tune, target == "opencl" ? kOpenClBody : kCudaBody) +
         fmt::format("// level {}\n", level);
}

Status write_fixture_run(const std::filesystem::path& folder, const FixtureOptions& options) {
  KERF_TRY(const auto store, create_run_store(folder));
  KERF_TRY_VOID(store->set("task", "rmsnorm"));
  KERF_TRY_VOID(store->set("task_source", kTask));
  KERF_TRY_VOID(store->set("target", options.target));
  KERF_TRY_VOID(store->set("device", "Example processor (8 cores)"));
  KERF_TRY_VOID(store->set("toolchain", "g++ 12.2.0 -O3 -march=native; kerf 0.1.0"));
  KERF_TRY_VOID(store->set("kerf_version", "0.1.0"));
  KERF_TRY_VOID(store->set("seed", std::to_string(options.seed)));
  KERF_TRY_VOID(store->set("search", "kerf"));
  KERF_TRY_VOID(store->set("config", fmt::format("[search]\nevals = {}\nkeep = 3\n", options.steps)));
  if (options.peaks) KERF_TRY_VOID(store->set("peaks", R"({"copy": 2.1e10, "fma_f32": 4.1e11})"));
  KERF_TRY_VOID(store->note("started", {{"seed", std::to_string(options.seed)}}));
  Player player(*store, options);
  KERF_TRY_VOID(player.play());
  KERF_TRY_VOID(store->set("best_step", std::to_string(player.best())));
  KERF_TRY_VOID(store->set("elapsed_seconds", fmt::format("{:.1f}", player.seconds())));
  if (!options.finished) return {};
  KERF_TRY_VOID(store->set("finished", "budget"));
  return store->note("stopped", {{"why", "budget"}});
}

}  // namespace kerf::report
