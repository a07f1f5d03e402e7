#pragma once
// What every page of ours has: one self-contained file with the shared style and the functions of page/dom.js.

#include <string>
#include <string_view>

namespace kerf::report {

struct HtmlPage {
  std::string title, summary;  ///< summary: one sentence, for who has no JavaScript
  std::string hint;            ///< likewise: where the same facts are as text
  std::string data;            ///< JSON, `data` in the script
  std::string script;          ///< behind page/dom.js: panels, then showPage()
  std::string style{};         ///< behind page/style.css
};

/// The whole file. Its content policy allows the one script and style it carries, by hash, and no request at all.
std::string html_page(const HtmlPage& page);

/// Whether the beginning of a file (its first megabyte is enough) is that of such a page.
bool is_html_report(std::string_view text);

}  // namespace kerf::report
