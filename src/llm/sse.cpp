#include "llm/sse.hpp"

namespace kerf::llm {

void SseReader::feed(std::string_view bytes, const OnEvent& on_event) {
  for (const char c : bytes) {
    const bool ends = c == '\n' || c == '\r';
    if (c == '\n' && after_return_) {
      after_return_ = false;
      continue;
    }
    after_return_ = c == '\r';
    if (!ends) {
      line_ += c;
      continue;
    }
    take_line(line_, on_event);
    line_.clear();
  }
}

void SseReader::finish(const OnEvent& on_event) {
  if (!line_.empty()) take_line(line_, on_event);
  line_.clear();
  take_line("", on_event);
}

void SseReader::take_line(std::string_view line, const OnEvent& on_event) {
  if (line.empty()) {
    if (has_data_) on_event(data_);
    data_.clear();
    has_data_ = false;
    return;
  }
  if (!line.starts_with("data")) return;
  line.remove_prefix(4);
  if (!line.empty() && line.front() != ':') return;  // another field: "database"
  if (!line.empty()) line.remove_prefix(1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  if (has_data_) data_ += '\n';
  data_ += line;
  has_data_ = true;
}

}  // namespace kerf::llm
