// libcurl behind HttpTransport, opened with dlopen so that the program runs without it.

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "llm/http.hpp"

namespace kerf::llm {
namespace {

#define KERF_CURL_FUNCTIONS(X) \
  X(curl_global_init)          \
  X(curl_easy_init)            \
  X(curl_easy_cleanup)         \
  X(curl_easy_setopt)          \
  X(curl_easy_getinfo)         \
  X(curl_easy_strerror)        \
  X(curl_slist_append)         \
  X(curl_slist_free_all)       \
  X(curl_multi_init)           \
  X(curl_multi_cleanup)        \
  X(curl_multi_add_handle)     \
  X(curl_multi_remove_handle)  \
  X(curl_multi_perform)        \
  X(curl_multi_poll)           \
  X(curl_multi_info_read)

struct Curl {
#define KERF_CURL_MEMBER(name) decltype(&::name) name = nullptr;
  KERF_CURL_FUNCTIONS(KERF_CURL_MEMBER)
#undef KERF_CURL_MEMBER
};

constexpr int kPollMs = 50;  // between checks for cancelling and silence
constexpr std::size_t kLongestHeader = 8192;

/// One request under way: what libcurl's callbacks see.
struct Transfer {
  const HttpLimits& limits;
  const OnBytes& on_bytes;
  HttpHead head;
  std::size_t bytes = 0;
  std::chrono::steady_clock::time_point last_byte{};
  bool stopped = false, too_large = false;
};

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::size_t length = size * count;
  transfer.last_byte = std::chrono::steady_clock::now();
  transfer.bytes += length;
  transfer.too_large = transfer.bytes > transfer.limits.bytes;
  if (transfer.too_large) return 0;
  transfer.stopped = !transfer.on_bytes(transfer.head, {data, length});
  return transfer.stopped ? 0 : length;
}

std::size_t take_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(data, std::min(size * count, kLongestHeader));
  if (line.starts_with("HTTP/")) {  // of the final answer, or of an interim one before it
    transfer.head = {};
    const auto space = line.find(' ');
    if (space != std::string_view::npos)
      transfer.head.status = std::atoi(std::string(line.substr(space + 1, 3)).c_str());
    return size * count;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return size * count;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string value(trim(line.substr(colon + 1)));
  if (name == "content-type") transfer.head.content_type = printable(value);
  if (name == "location") transfer.head.location = printable(value);
  if (name == "retry-after") transfer.head.retry_after = parse_retry_after(value, SystemClock().wall_ms());
  return size * count;
}

class CurlTransport final : public HttpTransport {
 public:
  explicit CurlTransport(const Curl& curl) : curl_(curl) {}

  HttpOutcome post(const HttpRequest& request, const HttpLimits& limits, const OnBytes& on_bytes,
                   const std::atomic<bool>& cancelled) override {
    Transfer transfer{limits, on_bytes, {}};
    const auto free_easy = [this](CURL* easy) { curl_.curl_easy_cleanup(easy); };
    const auto free_multi = [this](CURLM* multi) { curl_.curl_multi_cleanup(multi); };
    const auto free_list = [this](curl_slist* list) { curl_.curl_slist_free_all(list); };
    const std::unique_ptr<CURL, decltype(free_easy)> easy(curl_.curl_easy_init(), free_easy);
    const std::unique_ptr<CURLM, decltype(free_multi)> multi(curl_.curl_multi_init(), free_multi);
    if (!easy || !multi) return {HttpOutcome::End::no_connection, {}, "libcurl is out of memory"};
    curl_slist* lines = nullptr;
    for (const char* line :
         {"Content-Type: application/json", "Accept: text/event-stream, application/json", "Expect:"})
      lines = curl_.curl_slist_append(lines, line);
    if (!request.key.empty())
      lines = curl_.curl_slist_append(lines, ("Authorization: Bearer " + request.key.reveal()).c_str());
    const std::unique_ptr<curl_slist, decltype(free_list)> headers(lines, free_list);
    configure(easy.get(), request, limits, headers.get(), transfer);
    curl_.curl_multi_add_handle(multi.get(), easy.get());
    HttpOutcome outcome = drive(multi.get(), easy.get(), transfer, cancelled);
    curl_.curl_multi_remove_handle(multi.get(), easy.get());
    outcome.head = transfer.head;
    outcome.detail = request.key.scrub(printable(outcome.detail));
    return outcome;
  }

 private:
  template <class T>
  void set(CURL* easy, CURLoption option, T value) const {
    curl_.curl_easy_setopt(easy, option, value);
  }

  void configure(CURL* easy, const HttpRequest& request, const HttpLimits& limits, curl_slist* headers,
                 Transfer& transfer) const {
    set(easy, CURLOPT_URL, request.url.c_str());
    set(easy, CURLOPT_HTTPHEADER, headers);
    set(easy, CURLOPT_POST, 1L);
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(easy, CURLOPT_POSTFIELDS, request.body.data());
    set(easy, CURLOPT_NOSIGNAL, 1L);
    set(easy, CURLOPT_FOLLOWLOCATION, 0L);
    set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    set(easy, CURLOPT_ACCEPT_ENCODING, "");
    set(easy, CURLOPT_USERAGENT, "kerf");
    set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect.count()));
    // Nothing on this machine is reached through a proxy that the environment names.
    if (const auto endpoint = parse_base_url(request.url); endpoint && endpoint->on_this_machine)
      set(easy, CURLOPT_NOPROXY, "*");
    set(easy, CURLOPT_WRITEFUNCTION, take_body);
    set(easy, CURLOPT_WRITEDATA, &transfer);
    set(easy, CURLOPT_HEADERFUNCTION, take_header);
    set(easy, CURLOPT_HEADERDATA, &transfer);
  }

  /// Until the transfer ends or a limit is reached.
  HttpOutcome drive(CURLM* multi, CURL* easy, Transfer& transfer, const std::atomic<bool>& cancelled) const {
    using End = HttpOutcome::End;
    const auto began = std::chrono::steady_clock::now();
    for (int running = 1; running > 0;) {
      if (curl_.curl_multi_perform(multi, &running) != CURLM_OK) return {End::broken, {}, "libcurl failed"};
      if (running == 0) break;
      const auto now = std::chrono::steady_clock::now();
      if (cancelled) return {End::cancelled, {}, ""};
      if (now - began > transfer.limits.total) return {End::took_too_long, {}, ""};
      if (transfer.bytes == 0 && now - began > transfer.limits.first_byte) return {End::no_first_byte, {}, ""};
      if (transfer.bytes > 0 && now - transfer.last_byte > transfer.limits.silence) return {End::silent, {}, ""};
      curl_.curl_multi_poll(multi, nullptr, 0, kPollMs, nullptr);
    }
    int left = 0;
    const CURLMsg* message = curl_.curl_multi_info_read(multi, &left);
    const CURLcode code = message != nullptr ? message->data.result : CURLE_OK;
    if (transfer.too_large) return {End::too_large, {}, ""};
    if (transfer.stopped) return {End::stopped, {}, ""};
    if (code == CURLE_OK) return {End::complete, {}, ""};
    long connected = 0;
    curl_.curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &connected);
    const bool before =
        connected == 0 && code != CURLE_GOT_NOTHING && code != CURLE_RECV_ERROR && code != CURLE_SEND_ERROR;
    std::string detail = curl_.curl_easy_strerror(code);
    long system_error = 0;
    curl_.curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &system_error);
    if (before && system_error != 0)
      detail += fmt::format(" ({})", std::generic_category().message(static_cast<int>(system_error)));
    return {before ? End::no_connection : End::broken, {}, std::move(detail)};
  }

  Curl curl_;
};

}  // namespace

Result<std::unique_ptr<HttpTransport>> open_curl_transport() {
  constexpr const char* kRemedy = "install it: apt-get install libcurl4 (Debian) or libcurl4t64 (Ubuntu 24.04)";
  void* library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(Errc::unavailable,
                fmt::format("libcurl.so.4, by which language models are asked, is not here; {}", kRemedy));
  Curl curl;
#define KERF_CURL_LOAD(name)                                                  \
  curl.name = reinterpret_cast<decltype(curl.name)>(::dlsym(library, #name)); \
  if (curl.name == nullptr)                                                   \
    return fail(Errc::unavailable, fmt::format("libcurl.so.4 lacks " #name ": 7.66 or newer is needed; {}", kRemedy));
  KERF_CURL_FUNCTIONS(KERF_CURL_LOAD)
#undef KERF_CURL_LOAD
  if (curl.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return fail(Errc::unavailable, "libcurl cannot be started");
  return std::make_unique<CurlTransport>(curl);
}

}  // namespace kerf::llm
