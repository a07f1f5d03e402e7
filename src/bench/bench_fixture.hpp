#pragma once
// Problems and records made up for tests of this room.

#include <filesystem>
#include <fstream>
#include <string>

#include "bench/record.hpp"

namespace kerf::bench::test {

/// A folder that is removed with its owner.
struct TempFolder {
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kerf-bench-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::filesystem::path path;
};

inline void put(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

inline Problem made_problem(int level, int number) {
  Problem problem;
  problem.level = level;
  problem.number = number;
  problem.name = std::to_string(number) + "_Made_up";
  problem.file = "/nowhere/level" + std::to_string(level) + "/" + problem.name + ".py";
  return problem;
}

/// A problem that went well: `over_eager` times as fast as eager, which torch.compile makes 1.25 times as fast.
inline Record good_record(int level, int number, double over_eager) {
  Record record;
  record.problem = made_problem(level, number);
  record.progress = Progress::done;
  record.verified = record.correct = true;
  record.kernelbench_correct = true;
  record.kernel = "matmul/tiled + row/block";
  record.eager = TimeSpan{1000, 990, 1010};
  record.compiled = TimeSpan{800, 790, 810};
  record.ours = TimeSpan{1000 / over_eager, 990 / over_eager, 1010 / over_eager};
  record.over_eager = SpeedRatio{over_eager, over_eager * 0.98, over_eager * 1.02};
  record.over_compiled = SpeedRatio{over_eager * 0.8, over_eager * 0.78, over_eager * 0.82};
  record.compiled_over_eager = SpeedRatio{1.25, 0, 0};
  record.compile_status = "measured";
  return record;
}

inline Record failed_record(int level, int number, Failure failure, const std::string& stage) {
  Record record;
  record.problem = made_problem(level, number);
  record.failure = failure;
  record.stage = stage;
  record.message = "made up";
  return record;
}

}  // namespace kerf::bench::test
