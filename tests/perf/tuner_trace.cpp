// Prints which points of a recorded landscape the tuner times, one line per seed; for kernel_tuner_compare.py.

#include <cstdlib>
#include <iostream>

#include "base/file.hpp"
#include "tuner_trace.hpp"

int main(int argc, char** argv) {
  using namespace kerf;
  int seeds = 50, budget = 100;
  double close = 1.02;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--seeds" && i + 1 < argc)
      seeds = std::atoi(argv[++i]);
    else if (arg == "--budget" && i + 1 < argc)
      budget = std::atoi(argv[++i]);
    else if (arg == "--close" && i + 1 < argc)
      close = std::atof(argv[++i]);
    else
      path = arg;
  }
  if (path.empty() || seeds < 1 || budget < 1 || !(close >= 1)) {
    std::cerr << "usage: tuner_trace [--seeds N] [--budget N] [--close 1.02] LANDSCAPE.json\n";
    return 2;
  }
  const auto run = [&]() -> Status {
    KERF_TRY(const std::string text, read_file(path));
    KERF_TRY(const perf::TraceLandscape landscape, perf::parse_trace_landscape(text));
    for (int seed = 1; seed <= seeds; ++seed) {
      KERF_TRY(const auto trace, perf::trace_tuner(landscape, budget, static_cast<std::uint64_t>(seed), close));
      std::cout << nlohmann::json(trace).dump() << std::endl;
    }
    return {};
  };
  if (const Status done = run(); !done) {
    std::cerr << path << ": " << done.error().message << "\n";
    return 2;
  }
  return 0;
}
