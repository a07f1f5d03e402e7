#pragma once
// A CUDA candidate as a program for the host: emulator_units.hpp takes the place of the dialect layer and of the
// template's instructions (the lines between "// --- instructions" and "// --- end of instructions").

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "model/candidate.hpp"
#include "model/task.hpp"
#include "oracle/dataset.hpp"

namespace kerf {

/// Compiles the candidate, whose one group has the prefix "g0", with its default tunables for one shape. The program
/// stays in `folder`.
Result<std::filesystem::path> build_emulation(const Task& task, const Candidate& candidate, const ShapeSet& shape,
                                              const std::filesystem::path& folder);

/// Runs the whole launch plan on the data set's inputs and gives back the outputs, in task order. An error when the
/// emulator refuses what the kernel does, or when it writes outside of a buffer.
Result<std::vector<ir::HostTensor>> emulate(const Task& task, const ShapeSet& shape,
                                            const std::filesystem::path& program, const oracle::DataSet& data);

}  // namespace kerf
