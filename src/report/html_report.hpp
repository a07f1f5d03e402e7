#pragma once
// A run as one self-contained HTML page: no network, nothing beside it, safe with any kernel text in it.

#include <string>
#include <vector>

#include "report/html_page.hpp"
#include "report/report_data.hpp"

namespace kerf::report {

/// The whole file. Its content policy allows the one script and style it carries, by hash, and no request at all.
std::string html_report(const RunView& run, const std::vector<ShapeCost>& costs);

}  // namespace kerf::report
