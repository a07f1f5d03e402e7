#pragma once
// For tests: compiles C++ kernels and runs them on the real device. The test program is its own worker binary.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "language/cpp/cpp_language.hpp"

namespace kerf {

/// y = 2 x + w over `n` floats; inputs x[n], w[n], output y[n].
class KernelFixture : public testing::Test {
 protected:
  static void SetUpTestSuite();
  void SetUp() override;

  static constexpr std::int64_t n = 1000;
  static oracle::DataSet make_data(int seed);
  static ProblemLayout layout(int slots);

  Artifact compile(const std::string& source);
  void open(int slots = 2);
  /// Loads and expects success.
  KernelHandle load(const std::string& source, LaunchPlan plan = {});
  /// Stages `data` into slot 0, runs, and gives the outcome.
  RunOutcome run_once(const std::string& source, std::chrono::milliseconds limit = std::chrono::seconds(5));
  /// The fault of `run_once`; fails the test when there is none.
  Fault fault_of(const std::string& source, std::chrono::milliseconds limit = std::chrono::seconds(5));
  SlotReport check(int slot = 0);

  static Language* language_;
  static Sandbox* sandbox_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Bench> bench_;
  oracle::DataSet data_ = make_data(1);
};

/// Source of a kernel with this body; x, w and y are its buffers, n their extent.
std::string kernel(const std::string& body, const std::string& before = "");
inline constexpr const char* kHonestBody = "for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + w[i];";

}  // namespace kerf
