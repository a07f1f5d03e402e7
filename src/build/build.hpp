#pragma once
// Candidate to artifact, cached by content in memory and on disk.

#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/result.hpp"
#include "language/language.hpp"
#include "model/candidate.hpp"

namespace kerf {

/// Remembers compile outcomes (failures too) under a key of language, version, architecture, constants and source.
/// Thread-safe; a request that is being compiled for somebody else waits for that.
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
  Result<CompileOutcome> find_or_compile(Language& language, const CompileRequest& request, const std::string& key);

  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::condition_variable done_;                 // something left under_way_
  std::set<std::string> under_way_;              // guarded by mutex_; keys being looked up or compiled
  std::map<std::string, CompileOutcome> known_;  // guarded by mutex_
  int hits_ = 0, misses_ = 0;                    // guarded by mutex_
  std::string write_error_;                      // guarded by mutex_
};

/// The request for a candidate under one set of constants.
CompileRequest make_request(const Candidate& candidate, const Bindings& constants, const std::string& arch);

/// Content key of a request, as used for the file names in the cache.
std::string cache_key(const Language& language, const CompileRequest& request);

}  // namespace kerf
