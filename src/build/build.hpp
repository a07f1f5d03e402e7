#pragma once
// Candidate to artifact, cached by content in memory and on disk.

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "base/result.hpp"
#include "language/language.hpp"
#include "model/candidate.hpp"

namespace kerf {

/// Remembers compile outcomes (failures too) under a key of language, version, architecture, constants and source.
/// Thread-safe; the same request made twice at once may compile twice, with one result kept.
class BuildCache {
 public:
  /// `folder` empty: in memory only.
  explicit BuildCache(std::filesystem::path folder);

  Result<CompileOutcome> compile(Language& language, const CompileRequest& request);

  int hits() const;
  int misses() const;
  /// Why compiled code could not be written to the folder; "" while it can. It then lives in memory only, which costs
  /// speed at the next start, not correctness.
  std::string write_error() const;

 private:
  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::map<std::string, CompileOutcome> known_;  // guarded by mutex_
  int hits_ = 0, misses_ = 0;                    // guarded by mutex_
  std::string write_error_;                      // guarded by mutex_
};

/// The request for a candidate under one set of constants.
CompileRequest make_request(const Candidate& candidate, const Bindings& constants, const std::string& arch);

/// Content key of a request, as used for the file names in the cache.
std::string cache_key(const Language& language, const CompileRequest& request);

}  // namespace kerf
