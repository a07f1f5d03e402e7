// Every function of the expression language against PyTorch's float64 answer, from the folder that generate.py wrote.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "ir/expression/expression.hpp"
#include "ir/interpret/interpreter.hpp"

namespace kerf::ir {
namespace {

struct Folder {
  nlohmann::json manifest;
  std::string data;
};

/// Nothing when PyTorch is not installed: generate.py then leaves no folder.
const Folder* folder() {
  static const auto loaded = []() -> std::optional<Folder> {
    const std::filesystem::path path = KERF_TORCH_CASES;
    const auto manifest = read_file(path / "manifest.json"), data = read_file(path / "data.bin");
    if (!manifest || !data) return std::nullopt;
    return Folder{nlohmann::json::parse(*manifest), *data};
  }();
  return loaded ? &*loaded : nullptr;
}

HostTensor tensor_at(const Folder& cases, const nlohmann::json& where, DType dtype) {
  HostTensor tensor = make_tensor(dtype, where.at("shape").get<std::vector<std::int64_t>>());
  std::memcpy(tensor.bytes.data(), cases.data.data() + where.at("offset").get<std::size_t>(), tensor.bytes.size());
  return tensor;
}

/// "" when equal within the tolerance; relative to the element, or to 1e-2 of the largest element for cancelled sums.
std::string difference(const HostTensor& actual, const HostTensor& expected, double tolerance) {
  if (actual.dtype != expected.dtype)
    return fmt::format("dtype {}, not {}", dtype_name(actual.dtype), dtype_name(expected.dtype));
  if (actual.shape != expected.shape)
    return "shape " + testing::PrintToString(actual.shape) + ", not " + testing::PrintToString(expected.shape);
  double largest = 0;
  const auto element = [](const HostTensor& t, std::int64_t i) {
    return load_element(t.dtype, t.bytes.data(), static_cast<std::size_t>(i));
  };
  for (std::int64_t i = 0; i < expected.elements(); ++i)
    if (std::isfinite(element(expected, i))) largest = std::max(largest, std::fabs(element(expected, i)));
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const double a = element(actual, i), e = element(expected, i);
    const bool same = a == e || (std::isnan(a) && std::isnan(e));
    const bool exact = !is_float(expected.dtype);
    if (!same && (exact || !(std::fabs(a - e) <= tolerance * std::max(std::fabs(e), 1e-2 * std::min(largest, 1e6)))))
      return fmt::format("element {}: {:.17g}, not {:.17g}", i, a, e);
  }
  return "";
}

std::string run_case(const Folder& cases, const nlohmann::json& item) {
  std::vector<TensorType> types;
  std::vector<HostTensor> inputs;
  for (const auto& input : item.at("inputs")) {
    auto type = parse_tensor_type(input.at("name").get<std::string>(), input.at("type").get<std::string>());
    if (!type) return type.error().message;
    inputs.push_back(tensor_at(cases, input, type->dtype));
    types.push_back(std::move(*type));
  }
  const auto bindings = item.at("bind").get<std::map<std::string, std::int64_t>>();
  const Bindings shape_set(bindings.begin(), bindings.end());
  const auto graph = parse_expression(item.at("expression").get<std::string>(), types, {"y"}, {shape_set});
  if (!graph) return graph.error().message;
  const auto outputs = interpret(*graph, inputs, shape_set);
  if (!outputs) return outputs.error().message;
  const auto& expected = item.at("output");
  const DType dtype = dtype_from_name(expected.at("dtype").get<std::string>()).value();
  return difference(outputs->front(), tensor_at(cases, expected, dtype), item.at("tolerance").get<double>());
}

TEST(Torch, EveryCaseHasTheValueThatTorchGives) {
  if (folder() == nullptr) GTEST_SKIP() << "PyTorch is not installed (no " << KERF_TORCH_CASES << ")";
  for (const auto& item : folder()->manifest.at("cases")) {
    const std::string wrong = run_case(*folder(), item);
    EXPECT_EQ(wrong, "") << item.at("expression") << " with " << item.at("inputs").dump();
  }
}

/// Names followed by '(' in an expression.
std::set<std::string> called_functions(const std::string& expression) {
  std::set<std::string> names;
  std::string word;
  for (const char c : expression) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    if (c == '(' && !word.empty()) names.insert(word);
    word.clear();
  }
  return names;
}

TEST(Torch, EveryFunctionHasACase) {
  if (folder() == nullptr) GTEST_SKIP() << "PyTorch is not installed (no " << KERF_TORCH_CASES << ")";
  std::set<std::string> covered;
  for (const auto& item : folder()->manifest.at("cases")) covered.merge(called_functions(item.at("expression")));
  for (const auto& function : expression_functions())
    EXPECT_TRUE(covered.contains(function.name)) << function.signature;
}

}  // namespace
}  // namespace kerf::ir
