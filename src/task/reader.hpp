#pragma once
// The parts of a task file, each read by one function; parse.cpp calls them in order.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/task.hpp"
#include "task/document.hpp"

namespace kerf::task {

/// Limits that keep every later stage finite; all far beyond real tasks.
inline constexpr std::size_t kMaxTensors = 1024;
inline constexpr std::size_t kMaxShapeSets = 64;
inline constexpr std::size_t kMaxSymbols = 64;
inline constexpr std::size_t kMaxBaselines = 32;
inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;
inline constexpr double kMaxTaskBytes = 64.0 * (std::int64_t{1} << 30);  ///< inputs and outputs of one shape set

/// "x = "f32[rows, cols]"" lines of [inputs] or [outputs]; `what` is "input" or "output".
Result<std::vector<ir::TensorType>> read_tensors(const Source& source, const Value& value, std::string_view what);

/// Ok when `name` is free to be used in code and in expressions.
Status check_task_name(const Source& source, Place place, std::string_view what, std::string_view name);

/// [shapes]; `needed` are the symbols that the tensors use. Without the table (and without symbols) one empty set.
Result<std::vector<ShapeSet>> read_shapes(const Source& source, const Value* value,
                                          const std::vector<std::string>& needed);

/// Every extent of every tensor and every node of the graph is possible under every set, and the whole fits in memory.
/// `shapes` is the table of the sets, in their order; null without one.
Status check_extents(const Source& source, const Task& task, const Value* shapes, Place reference);

/// [distributions] into task.distributions; task.inputs and task.shapes are already there.
Status read_distributions(const Source& source, const Table& root, Task& task);

/// Inputs that are used as indices have a distribution inside of the axis they index, under every set.
Status check_indices(const Source& source, const Task& task, const Table& root);

/// [reference] and [outputs] into task.graph or task.cpp and task.outputs.
Status read_reference(const Source& source, const Table& root, const std::filesystem::path& folder, Task& task);

/// [baselines]; needs everything else, because the kernels are held to the task.
Status read_baselines(const Source& source, const Value* value, const std::filesystem::path& folder, Task& task);

/// 'require', and the batch symbol that the shapes of inputs and outputs have; needs both.
Status read_requirements(const Source& source, const Value* value, Task& task);

/// A file named by the task, relative to its folder: an ordinary file of reasonable size.
Result<std::string> read_named_file(const Source& source, Place place, const std::filesystem::path& folder,
                                    const std::string& path);

/// Task::id: changes with whatever can change a verdict, not with comments, layout or paths.
std::string task_id(const Task& task, std::string_view expression);

}  // namespace kerf::task
