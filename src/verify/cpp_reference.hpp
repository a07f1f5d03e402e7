#pragma once
// A reference given as C++ source: compiled for double, run in the sandbox like any kernel, with error bounds found by
// perturbation instead of by analysis.

#include <memory>
#include <string>

#include "base/result.hpp"
#include "device/device.hpp"
#include "language/language.hpp"
#include "model/task.hpp"
#include "oracle/reference.hpp"

namespace kerf {

/// The candidate file that computes the reference in `real` ("double" or "float"): with "float" it is the task's naive
/// baseline on targets whose language is C++. `target` is the value of its `target:` line; "": without that line.
std::string cpp_reference_candidate(const Task& task, const std::string& real, const std::string& target = "");

/// `language` and `device` are the C++ target's and must outlive the result. Calls are serialised inside.
///
/// The bound of an element is 2u|y| plus twice the rms change under eight random relative perturbations of the inputs
/// by u, times the largest factor (at least 1) by which the float version of the same code exceeds that on these
/// inputs: what an honest implementation of this source reaches in f32.
Result<std::unique_ptr<oracle::Reference>> make_cpp_reference(const Task& task, Language& language, Device& device);

}  // namespace kerf
