#pragma once
// Server-sent events: bytes in pieces of any size to the data of whole events.

#include <functional>
#include <string>
#include <string_view>

namespace kerf::llm {

/// Lines end with \n, \r\n or \r; comments and fields other than `data` are passed over.
class SseReader {
 public:
  using OnEvent = std::function<void(std::string_view data)>;
  void feed(std::string_view bytes, const OnEvent& on_event);
  /// The stream has ended: an event whose end is missing is reported too.
  void finish(const OnEvent& on_event);

 private:
  void take_line(std::string_view line, const OnEvent& on_event);
  std::string line_, data_;
  bool has_data_ = false, after_return_ = false;
};

}  // namespace kerf::llm
