#pragma once
// The problems of a benchmark's folder, and which of them are asked for.

#include <compare>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kerf::bench {

/// Whose layout a folder has. Names are stored.
enum class Suite { kernelbench, robust_kbench };
std::string_view suite_name(Suite suite);  ///< "kernelbench", "robust-kbench"
Result<Suite> suite_from_name(const std::string& name);

/// One model file with one setting. Problems are ordered by level, number and setting.
struct Problem {
  int level = 0;               ///< 0: robust-kbench's own tasks, which have no level
  int number = 0;              ///< as the file's name has it; own tasks are counted by name, from 1
  int setting = 0;             ///< 1, 2, ... where a task has several; 0: it has one
  std::string name;            ///< "23_Softmax", "layernorm"
  std::filesystem::path file;  ///< the benchmark's own
  std::string init, inputs;  ///< robust-kbench: JSON objects of keyword arguments of Model and get_inputs; "" otherwise
};

/// "1/23", "own/4", "own/10.2" (second setting). Unique in a suite.
std::string problem_id(const Problem& problem);
/// "level 1", "own tasks".
std::string level_words(int level);
/// Where its state is kept below a bench's folder: "level1/23_Softmax", "own/resnet_block.2".
std::filesystem::path problem_folder(const Problem& problem);

/// "1,5-9": numbers and ranges; "layernorm": names, where tasks have them.
struct Selection {
  struct Range {
    int first = 0, last = 0;
  };
  std::vector<Range> ranges;
  std::vector<std::string> names;

  bool all() const { return ranges.empty() && names.empty(); }
};
/// `option` begins the messages: "--problems".
Result<Selection> parse_selection(const std::string& option, const std::string& text);

struct Wanted {
  Suite suite = Suite::kernelbench;
  std::filesystem::path path;  ///< the repository, its KernelBench (or tasks) folder, or one with level1, level2, ...
  Selection levels;            ///< all(): every level that is there
  Selection problems;          ///< of each of these levels; all(): every one
  bool every_setting = false;  ///< robust-kbench: the settings of its multi_* lists instead of the single one
};

/// In order; at least one. invalid_input and not_found name the nearest that there is.
Result<std::vector<Problem>> find_problems(const Wanted& wanted);

/// The text of a model file: the benchmark's own, with the setting's arguments put in where it has one. Errors are
/// about reading it.
Result<std::string> model_text(const Problem& problem);

}  // namespace kerf::bench
