#pragma once
// events.jsonl: a run's story as lines of JSON, for people and other programs to follow with `tail -f`.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kerf::store {

/// Appends to a file what the database holds already, so nothing is lost when a line is missing or torn.
class EventLog {
 public:
  /// Brings the file in line with `expected` (whole lines). A torn or missing end is completed; a file that says
  /// something else is kept as <name>.damaged and written anew.
  static Result<EventLog> open(const std::filesystem::path& path, std::string_view expected);
  EventLog(EventLog&& other) noexcept;
  EventLog& operator=(EventLog&&) = delete;
  ~EventLog();

  Status append(std::string_view line);  ///< without its newline

 private:
  EventLog(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::filesystem::path path_;
  int fd_;
};

}  // namespace kerf::store
