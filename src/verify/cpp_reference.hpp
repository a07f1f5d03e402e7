#pragma once
// A reference given as C++ source: compiled for double, run in the sandbox like any kernel, with error bounds found by
// perturbation instead of by analysis.

#include <memory>
#include <span>
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

/// Widens bounds by what an honest implementation loses: by the factor that 99 of 100 elements with a bound of the same
/// size (within a factor of two) need, and for the others to their own error. An element at which the float version is
/// bad widens its own bound and no other; a region where it is bad everywhere (log(1 + x*x) near zero) widens its own
/// bounds only. Both lists have one entry per element.
void widen_bounds(std::span<double> bounds, std::span<const double> errors);

/// `language` and `device` are the C++ target's and must outlive the result. Calls are serialised inside.
///
/// The bound of an element is 2u|y| plus twice the rms change under eight random relative perturbations of the inputs
/// by u, widened by `widen_bounds` to what the float version of the same code loses on these inputs.
Result<std::unique_ptr<oracle::Reference>> make_cpp_reference(const Task& task, Language& language, Device& device);

}  // namespace kerf
