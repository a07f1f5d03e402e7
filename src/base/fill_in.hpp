#pragma once
// Templates: text with @@NAME@@ where values go.

#include <map>
#include <string>
#include <string_view>

namespace kerf {

/// Every @@NAME@@ replaced, in one pass, so that values are never searched. A name without a value is a bug of ours.
std::string fill_in(std::string_view page, const std::map<std::string_view, std::string>& values);

}  // namespace kerf
