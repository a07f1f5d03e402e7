#pragma once
// Errors are values. `Result<T>` is returned by every operation that can fail for a reason outside the
// program; a failed *candidate* is not an error but an `Evaluation` (see model/evaluation.hpp).

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace kerf {

/// Who has to act: the user (invalid_input, not_found), the machine (io, tool_failed, unavailable), or nobody.
enum class Errc { invalid_input, not_found, io, tool_failed, timeout, unavailable, cancelled };

/// `message` says what failed, on what, and what to try next.
struct Error {
  Errc code = Errc::io;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

inline tl::unexpected<Error> fail(Errc code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// Stable text of a code, used in logs and JSON.
const char* errc_name(Errc code);

/// Logs `why` with its place and aborts; for bugs in Kerf only, never for data from outside.
[[noreturn]] void check_failed(const char* condition, const char* why, const char* file, int line);

}  // namespace kerf

#define KERF_CAT_(a, b) a##b
#define KERF_CAT(a, b) KERF_CAT_(a, b)
#define KERF_TRY_(r, decl, expr)                                        \
  auto r = (expr);                                                      \
  if (!r) return ::tl::unexpected<::kerf::Error>(std::move(r).error()); \
  decl = *std::move(r)
/// `KERF_TRY(const Task task, load_task(path));` binds the value or returns the error.
#define KERF_TRY(decl, expr) KERF_TRY_(KERF_CAT(kerf_r_, __COUNTER__), decl, expr)
/// The same for `Status`.
#define KERF_TRY_VOID(expr)                                                   \
  do {                                                                        \
    if (auto kerf_status = (expr); !kerf_status)                              \
      return ::tl::unexpected<::kerf::Error>(std::move(kerf_status).error()); \
  } while (false)

#define KERF_CHECK(condition, why) ((condition) ? (void)0 : ::kerf::check_failed(#condition, why, __FILE__, __LINE__))
