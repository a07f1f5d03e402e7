// Imported models: the task as Kerf's interpreter computes it against what PyTorch computes, both in f64, from the
// folder that generate.py wrote (or that KERF_MODEL_CASES names).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "ir/interpret/interpreter.hpp"
#include "task/task.hpp"

namespace kerf::ir {
namespace {

std::filesystem::path folder() {
  const char* chosen = std::getenv("KERF_MODEL_CASES");
  return chosen != nullptr ? chosen : KERF_MODEL_FOLDER;
}

HostTensor tensor_at(const std::string& data, const nlohmann::json& where, DType dtype) {
  HostTensor tensor = make_tensor(dtype, where.at("shape").get<std::vector<std::int64_t>>());
  std::memcpy(tensor.bytes.data(), data.data() + where.at("offset").get<std::size_t>(), tensor.bytes.size());
  return tensor;
}

/// "" when equal; floats relative to the element, or to 1e-3 of the largest one.
std::string difference(const HostTensor& actual, const HostTensor& expected, double tolerance) {
  if (actual.shape != expected.shape)
    return "shape " + testing::PrintToString(actual.shape) + ", not " + testing::PrintToString(expected.shape);
  if (is_float(actual.dtype) != is_float(expected.dtype)) return fmt::format("dtype {}", dtype_name(actual.dtype));
  const auto element = [](const HostTensor& t, std::int64_t i) {
    return load_element(t.dtype, t.bytes.data(), static_cast<std::size_t>(i));
  };
  double largest = 0;
  for (std::int64_t i = 0; i < expected.elements(); ++i)
    if (std::isfinite(element(expected, i))) largest = std::max(largest, std::fabs(element(expected, i)));
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const double a = element(actual, i), e = element(expected, i);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    if (!is_float(expected.dtype) || !(std::fabs(a - e) <= tolerance * std::max(std::fabs(e), 1e-3 * largest)))
      return fmt::format("element {}: {:.17g}, not {:.17g}", i, a, e);
  }
  return "";
}

std::string run_model(const std::string& data, const nlohmann::json& model) {
  const auto task = parse_task(model.at("task").get<std::string>(), {}, model.at("name").get<std::string>());
  if (!task) return task.error().message;
  std::vector<HostTensor> inputs;
  for (std::size_t i = 0; i < task->inputs.size(); ++i)
    inputs.push_back(tensor_at(data, model.at("inputs").at(i), task->inputs[i].dtype));
  const auto outputs = interpret(*task->graph, inputs, task->shapes.front().symbols);
  if (!outputs) return outputs.error().message;
  if (outputs->size() != model.at("outputs").size()) return fmt::format("{} outputs", outputs->size());
  for (std::size_t i = 0; i < outputs->size(); ++i) {
    const auto& wanted = model.at("outputs").at(i);
    const DType dtype = dtype_from_name(wanted.at("dtype").get<std::string>()).value();
    // Numbers that the module itself keeps in f32 (eps, constants) differ by their rounding.
    const std::string wrong = difference((*outputs)[i], tensor_at(data, wanted, dtype), 1e-5);
    if (!wrong.empty()) return wanted.at("name").get<std::string>() + ": " + wrong;
  }
  return "";
}

TEST(Models, EveryImportedTaskComputesWhatPyTorchComputes) {
  const auto manifest = read_file(folder() / "manifest.json"), data = read_file(folder() / "data.bin");
  if (!manifest || !data) GTEST_SKIP() << "PyTorch is not installed (no " << folder() << ")";
  int equal = 0;
  const auto models = nlohmann::json::parse(*manifest).at("models");
  for (const auto& model : models) {
    const std::string wrong = run_model(*data, model);
    EXPECT_EQ(wrong, "") << model.at("name");
    equal += wrong.empty() ? 1 : 0;
  }
  RecordProperty("equal", equal);
  fmt::print("{} of {} imported models compute what PyTorch computes\n", equal, models.size());
}

}  // namespace
}  // namespace kerf::ir
