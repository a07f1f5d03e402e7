// Holds results that were computed elsewhere to the judge's own rule. Started by vendor_kernels.py, which computes them
// with a vendor's library: this program draws the judge's data sets and writes their inputs as raw files into a folder,
// says so in a line of JSON on its standard output, and then takes lines from its standard input:
//   check NAME   the outputs lie in the folder now: judged like a kernel's, answered with a line of JSON
//   next         the next data set, or {"done": true}

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "judge/shape_context.hpp"
#include "oracle/honest.hpp"
#include "oracle/inputs.hpp"
#include "run/target_session.hpp"
#include "sandbox/sandbox.hpp"
#include "target_environment.hpp"
#include "task/task.hpp"
#include "verify/gates.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Options {
  fs::path task, kerf, folder, cache;
  std::string target, device;
  std::uint64_t first_seed = 1;
  int draws = 1;
  double seconds = 1e9;        ///< no draw begins after so much time
  bool all_patterns = false;   ///< on every shape, not on the smallest alone
  double most_elements = 1e9;  ///< larger shapes are left out
};

Status write_bytes(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) return fail(Errc::io, "cannot write " + path.string());
  return {};
}

Result<std::vector<std::byte>> read_bytes(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> bytes(error ? 0 : size);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (error || !file) return fail(Errc::io, "cannot read " + path.string());
  return bytes;
}

Json describe(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape) {
  return {{"name", name}, {"file", name + ".bin"}, {"dtype", dtype_name(dtype)}, {"shape", shape}};
}

/// The data sets of one draw after the other, each offered until `next` is said.
class Server {
 public:
  Server(const Options& options, const Task& task, TargetSession& session, const oracle::Reference& reference)
      : options_(options), task_(task), session_(session), reference_(reference) {
    shapes_ = shapes_for(task, options.target);
    std::erase_if(shapes_, [&](const ShapeSet& shape) { return element_count(task, shape) > options.most_elements; });
    std::ranges::stable_sort(
        shapes_, [&](const auto& a, const auto& b) { return element_count(task_, a) < element_count(task_, b); });
  }

  Status serve() {
    const auto start = std::chrono::steady_clock::now();
    for (int draw = 0; draw < options_.draws; ++draw) {
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > options_.seconds) break;
      KERF_TRY_VOID(serve_draw(options_.first_seed + static_cast<std::uint64_t>(draw)));
    }
    say({{"done", true}});
    return {};
  }

 private:
  static void say(const Json& line) { std::cout << line.dump() << std::endl; }

  /// As the judge prepares it: every pattern on the smallest shape, on the others those it would draw.
  Status serve_draw(std::uint64_t seed) {
    UsablePatterns usable;
    for (std::size_t s = 0; s < shapes_.size(); ++s) {
      const JudgeTools tools = session_.tools();
      const ShapeContext::Inputs inputs{task_, shapes_[s], tools.target, reference_, tools.builds, seed, 3, 0, nullptr};
      UsablePatterns found;
      const bool all = s == 0 || options_.all_patterns;
      KERF_TRY(const auto context, ShapeContext::prepare(inputs, all ? nullptr : &usable, found));
      if (s == 0) usable = found;
      for (const oracle::DataSet* data : context->checked()) KERF_TRY_VOID(offer(*context, *data, seed));
    }
    return {};
  }

  Status offer(ShapeContext& context, const oracle::DataSet& data, std::uint64_t seed) {
    std::vector<ir::HostTensor> again;
    if (data.inputs.empty()) {  // made on the device
      if (!data.drawn) return fail(Errc::invalid_input, "a data set whose draw is not known");
      KERF_TRY(again, oracle::draw_inputs(task_, context.shape(), *data.drawn));
    }
    const auto& inputs = data.inputs.empty() ? again : data.inputs;
    Json line{{"draw", seed}, {"shape", data.shape}, {"pattern", data.distribution}};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      KERF_TRY_VOID(write_bytes(options_.folder / (task_.inputs[i].name + ".bin"), inputs[i].bytes));
      line["inputs"].push_back(describe(task_.inputs[i].name, inputs[i].dtype, inputs[i].shape));
    }
    for (const BufferSpec& output : context.outputs())
      line["outputs"].push_back(describe(output.name, output.dtype, output.shape));
    say(line);
    for (std::string request; std::getline(std::cin, request);) {
      if (request == "next") return {};
      if (!request.starts_with("check ")) return fail(Errc::invalid_input, "unknown request '" + request + "'");
      KERF_TRY(const Json answer, judge(context, data, request.substr(6)));
      say(answer);
    }
    return fail(Errc::cancelled, "nobody asks any more");
  }

  Result<Json> judge(ShapeContext& context, const oracle::DataSet& data, const std::string& name) {
    Bench& bench = context.bench();
    KERF_TRY_VOID(bench.stage(0, data, Poison::a));
    for (std::size_t k = 0; k < context.outputs().size(); ++k) {
      KERF_TRY(const auto bytes, read_bytes(options_.folder / (context.outputs()[k].name + ".bin")));
      KERF_TRY_VOID(bench.write_output(0, static_cast<int>(k), bytes));
    }
    KERF_TRY(const SlotReport report, bench.check(0, data));
    Json answer{{"name", name}, {"refused", nullptr}};
    if (const auto refusal = judge_slot(report, data, context.outputs()))
      answer["refused"] = std::visit([](const auto& why) { return why.message; }, *refusal);
    for (std::size_t k = 0; k < report.outputs.size(); ++k) {
      const oracle::CompareStats& stats = report.outputs[k];
      Json one{{"elements", stats.total},
               {"compared", stats.compared},
               {"rms", oracle::rms(stats)},
               {"largest", stats.largest},
               {"values_share", stats.worst_ratio}};
      if (k < data.honest.size()) {
        const oracle::LimitShares shares = oracle::limit_shares(stats, data.honest[k]);
        one.update({{"honest_rms", data.honest[k].rms}, {"honest_worst", data.honest[k].worst}});
        one.update({{"rms_share", shares.rms},
                    {"worst_share", shares.worst},
                    {"counts_share", shares.counts},
                    {"run_share", shares.run}});
      }
      answer["outputs"].push_back(one);
    }
    return answer;
  }

  const Options& options_;
  const Task& task_;
  TargetSession& session_;
  const oracle::Reference& reference_;
  std::vector<ShapeSet> shapes_;  // smallest first
};

Status run(const Options& options) {
  KERF_TRY(const Task task, load_task(options.task));
  KERF_TRY(const auto reference, oracle::make_graph_reference(task));
  const auto sandbox = make_sandbox();
  TargetResources resources;
  resources.self = fs::canonical(options.kerf);
  resources.cache = options.cache;
  resources.sandbox = sandbox.get();
  resources.environment = target_environment();
  std::random_device entropy;
  resources.secret = (static_cast<std::uint64_t>(entropy()) << 32) | entropy();
  KERF_TRY(const auto session, TargetSession::open(task, options.target, options.device, resources));
  return Server(options, task, *session, *reference).serve();
}

}  // namespace
}  // namespace kerf

int main(int argc, char** argv) {
  kerf::Options options;
  CLI::App app("Draws the judge's data sets and judges results that were computed elsewhere");
  app.add_option("task", options.task)->required();
  app.add_option("--kerf", options.kerf, "the kerf program, which workers are started from")->required();
  app.add_option("--folder", options.folder, "for inputs and outputs as raw files")->required();
  app.add_option("--cache", options.cache, "for compiled code")->required();
  app.add_option("--target", options.target)->required();
  app.add_option("--device", options.device);
  app.add_option("--first-seed", options.first_seed);
  app.add_option("--draws", options.draws);
  app.add_option("--seconds", options.seconds);
  app.add_option("--most-elements", options.most_elements);
  app.add_flag("--all-patterns", options.all_patterns);
  CLI11_PARSE(app, argc, argv);
  const auto done = kerf::run(options);
  if (done) return 0;
  std::cerr << "vendor_kernels: " << done.error().message << '\n';
  return 1;
}
