#pragma once
// Fields of a message between the judge and one of its worker processes. Both ends are the same binary on the same
// machine, so numbers travel in host byte order; readers still check every length, because a worker may be broken.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace kerf::worker {

class Writer {
 public:
  template <class T>
  Writer& put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Writer& text(std::string_view value) {
    put<std::uint64_t>(value.size());
    bytes_.append(value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads past the end yield zeros and make `ok` false for good.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T get() {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    T value{};
    if (rest_.size() < sizeof value) {
      ok_ = false;
      rest_ = {};
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view view() {
    const auto size = get<std::uint64_t>();
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
    }
    const auto value = rest_.substr(0, ok_ ? size : 0);
    rest_.remove_prefix(value.size());
    return value;
  }
  std::string text() { return std::string(view()); }
  /// A list's length: never more than the bytes that are left, so that a broken count cannot exhaust memory.
  std::size_t count() {
    const auto value = get<std::uint64_t>();
    if (value > rest_.size()) ok_ = false;
    return ok_ ? static_cast<std::size_t>(value) : 0;
  }
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace kerf::worker
