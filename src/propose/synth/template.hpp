#pragma once
// Text templates: `$NAME` is replaced, `%if $FLAG` / `%else` / `%endif` lines choose.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kerf::synth {

/// Text for `$name`; none when the name is unknown. The text may contain further `$names`.
using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

/// The template with everything replaced. Errors give file and line. Identifiers of the template that are in `taken`
/// (names the task gave to other things) are renamed; strings and what follows a '.' are left alone.
Result<std::string> expand(std::string_view file, std::string_view text, const Lookup& lookup,
                           const std::set<std::string>& taken);

/// Only the replacement, for one-line texts such as launches.
Result<std::string> substitute(std::string_view where, std::string_view text, const Lookup& lookup);

}  // namespace kerf::synth
