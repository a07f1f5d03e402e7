#pragma once
// Nsight Compute (`ncu`): a GPU's counters, read by a program that runs another one and prints a table.

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kerf::cuda {

/// KERF_NCU, then PATH, then the places where the toolkit puts it; empty where there is none.
std::filesystem::path find_ncu(const std::map<std::string, std::string>& environment);

/// Arguments that have it run `program` and print counter_names' values of its launches as CSV.
std::vector<std::string> ncu_command(const std::filesystem::path& ncu, const std::vector<std::string>& program);

/// Values by counter_names out of what `ncu --csv` printed (one row a launch and metric, below a line of column names;
/// lines around them are ncu's own words). Launches count by the time they took. tool_failed, with ncu's words, where
/// there is no value.
Result<std::map<std::string, double>> read_ncu(std::string_view printed);

/// Runs ncu on the program and reads what it prints. All that it started is ended with it or after `limit`.
Result<std::map<std::string, double>> run_ncu(const std::filesystem::path& ncu, const std::vector<std::string>& program,
                                              const std::map<std::string, std::string>& environment,
                                              const std::filesystem::path& folder, std::chrono::milliseconds limit);

}  // namespace kerf::cuda
