#pragma once
// A bench's folder: bench.json says what is asked, a folder per problem holds what became of it. Everything is written
// whole or not at all, so a process that is killed at any moment loses at most the stage it was at.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/record.hpp"

namespace kerf::bench {

inline constexpr const char* kBenchFile = "bench.json";

/// What all records of a folder have in common.
struct BenchFacts {
  Suite suite = Suite::kernelbench;
  std::filesystem::path path;          ///< of the benchmark, absolute
  std::string target, device;          ///< as given; device "": the first
  std::string device_name, toolchain;  ///< as found
  std::string host;                    ///< the machine's processor and system, one line
  std::string kerf;                    ///< version
  std::uint64_t seed = 0;
  std::string memory;    ///< of the searches: a path, or "off"
  std::string settings;  ///< --set and other options that change searches, one line
};

struct BenchState {
  BenchFacts facts;
  std::vector<Record> records;  ///< every problem that was ever asked for here, in order
};

/// invalid_input when the folder holds something else, or a bench of another suite, target or device. A folder that is
/// not there is made. Problems that were asked for before stay; `damaged` names records that could not be read and are
/// begun again.
Result<BenchState> open_state(const std::filesystem::path& folder, const BenchFacts& facts,
                              std::span<const Problem> problems, std::vector<std::string>& damaged);

/// What is there, for looking at it.
Result<BenchState> read_state(const std::filesystem::path& folder);

Status write_facts(const std::filesystem::path& folder, const BenchState& state);
Status write_record(const std::filesystem::path& folder, const Record& record);

/// Failed problems are as if they had never failed: those whose search failed are begun again, later stages go on.
void forget_failures(const std::filesystem::path& folder, std::span<Record> records);

}  // namespace kerf::bench
