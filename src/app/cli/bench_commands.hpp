#pragma once
// Whole benchmarks: the command, and the process that it starts for every search.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/environment.hpp"
#include "base/result.hpp"

namespace kerf::cli {

struct BenchOptions {
  std::string suite;                ///< "kernelbench" or "robust-kbench"
  std::string path;                 ///< of its checkout
  std::string levels, problems;     ///< "1,2", "1,5-9"; "": all
  std::string settings = "single";  ///< robust-kbench: "single" or "all"
  std::string target, device;
  std::string out;                      ///< "": runs/<suite>-<target>
  std::optional<int> evaluations;       ///< per problem
  std::optional<double> task_seconds;   ///< of a search
  std::optional<double> total_seconds;  ///< of the whole command
  double task_limit = 300;              ///< most seconds of one stage of one problem, beyond what it should take
  std::optional<double> task_memory;    ///< gigabytes
  double timing_seconds = 10;           ///< of the comparison's rounds
  bool no_compile = false;              ///< torch.compile is left out
  bool retry_failed = false;
  bool show_only = false;  ///< nothing is run: the tables of what is there
  std::string memory;      ///< "": one of the bench's own; "off"
  std::optional<std::uint64_t> seed;
  std::vector<std::string> set;
  bool json = false;
  int jobs = 0;
};
Status bench(const BenchOptions& options, const Environment& environment, Console& console);

/// `kerf bench-search FOLDER`: one search, as the files of a problem's folder say. Not for people.
Status bench_search(const std::string& folder, const Environment& environment, Console& console);

}  // namespace kerf::cli
