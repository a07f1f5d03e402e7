#pragma once
// What must hold for any bytes whatsoever. Each function returns "" or what went wrong; a crash is found by the caller.

#include <string>
#include <string_view>

namespace kerf::fuzz {

/// The text as a task's expression over a fixed set of inputs. A graph that comes out is well formed: arguments come
/// before their users, shapes can be evaluated, the graph survives simplification, and a small one can be interpreted.
std::string check_expression(std::string_view text);

/// The text as a task file.
std::string check_task(std::string_view text);

/// The text as a kernel file.
std::string check_candidate(std::string_view text);

}  // namespace kerf::fuzz
