#pragma once
// One HTTP request with a streamed answer, under limits. The real transport is libcurl, opened at run time.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "llm/secret.hpp"

namespace kerf::llm {

struct HttpRequest {
  std::string url;
  std::string body;  ///< JSON
  Secret key{};      ///< sent as a bearer token to this URL only; empty: none
};

struct HttpLimits {
  std::chrono::milliseconds connect{20'000};
  std::chrono::milliseconds first_byte{900'000};  ///< until the answer's first byte: models think before they speak
  std::chrono::milliseconds silence{300'000};     ///< between two bytes; comments of a stream count as bytes
  std::chrono::milliseconds total{3'600'000};
  std::size_t bytes = 16u << 20;  ///< of the answer
};

/// What stands before the answer's bytes.
struct HttpHead {
  int status = 0;  ///< 0: none came
  std::string content_type;
  std::optional<std::chrono::milliseconds> retry_after;
  std::string location;  ///< of a redirect; it is not followed
};

struct HttpOutcome {
  enum class End {
    complete,
    stopped,  ///< the reader had enough
    cancelled,
    no_connection,
    broken,  ///< the connection ended before the answer did
    no_first_byte,
    silent,
    took_too_long,
    too_large,
  };
  End end = End::complete;
  HttpHead head;
  std::string detail;  ///< the library's words, where something failed
};

/// Takes a piece of the answer; false: no more is wanted.
using OnBytes = std::function<bool(const HttpHead& head, std::string_view bytes)>;

class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  /// Thread-safe. `on_bytes` is called on the calling thread.
  virtual HttpOutcome post(const HttpRequest& request, const HttpLimits& limits, const OnBytes& on_bytes,
                           const std::atomic<bool>& cancelled) = 0;
};

/// libcurl.so.4 of this machine; unavailable with the remedy when there is none. TLS certificates are verified,
/// redirects are not followed, only http and https are spoken.
Result<std::unique_ptr<HttpTransport>> open_curl_transport();

/// Where an endpoint is, checked: http or https, no user, no query.
struct Endpoint {
  std::string base_url;  ///< without a slash at the end
  bool encrypted = false;
  bool on_this_machine = false;
};
Result<Endpoint> parse_base_url(const std::string& text);

/// The value of a Retry-After header: seconds, or a date (`now_ms` since the epoch is then needed). None when it is
/// neither.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text, std::int64_t now_ms);

}  // namespace kerf::llm
