#pragma once
// What a bench hands over: results.json with everything, results.tsv for spreadsheets, index.html to look at.

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "bench/bench_folder.hpp"

namespace kerf::bench {

inline constexpr const char* kResultsJson = "results.json";
inline constexpr const char* kResultsTsv = "results.tsv";
inline constexpr const char* kResultsPage = "index.html";

/// docs/formats.md has the fields. `indent` as of nlohmann: -1 is one line.
std::string results_json(const BenchState& state, int indent = -1);
/// A line of headings, then a line per problem; what is not known is empty.
std::string results_tsv(const BenchState& state);

/// All three, each whole or not at all.
Status write_results(const std::filesystem::path& folder, const BenchState& state);

}  // namespace kerf::bench
