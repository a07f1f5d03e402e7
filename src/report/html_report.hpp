#pragma once
// A run as one self-contained HTML page: no network, nothing beside it, safe with any kernel text in it.

#include <string>
#include <string_view>
#include <vector>

#include "report/report_data.hpp"

namespace kerf::report {

/// The whole file. Its content policy allows the one script and style it carries, by hash, and no request at all.
std::string html_report(const RunView& run, const std::vector<ShapeCost>& costs);

/// Whether the beginning of a file (its first megabyte is enough) is that of a report.
bool is_html_report(std::string_view text);

}  // namespace kerf::report
