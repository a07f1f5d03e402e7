#include "report/html_page.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/hash.hpp"
#include "base/template.hpp"
#include "base/version.hpp"

namespace kerf::report {

/// Generated: the files of page/.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

namespace {

std::string_view shared_file(std::string_view name) {
  for (const auto& [path, text] : embedded_files())
    if (path == name) return text;
  check_failed("file", "a part of the page is missing", __FILE__, __LINE__);
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) switch (c) {
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '&': escaped += "&amp;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  return escaped;
}

/// JSON that can stand inside a script element: there no '<' may begin "</script" or "<!--".
std::string escape_json(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text)
    if (c == '<')
      escaped += "\\u003c";
    else
      escaped += c;
  return escaped;
}

/// "sha256-..." as content policies want it.
std::string policy_hash(std::string_view text) {
  const std::string hex = sha256_hex(text);
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string encoded = "sha256-";
  for (std::size_t i = 0; i < 32; i += 3) {
    const auto byte = [&](std::size_t k) { return k < 32 ? std::stoul(hex.substr(2 * k, 2), nullptr, 16) : 0UL; };
    const unsigned long three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (std::size_t k = 0; k < 4; ++k) encoded += i + k > 32 ? '=' : kDigits[three >> (18 - 6 * k) & 63];
  }
  return encoded;
}

}  // namespace

std::string html_page(const HtmlPage& page) {
  const std::string code = "(() => {\n'use strict';\n" + std::string(shared_file("dom.js")) + page.script + "})();\n";
  const std::string style = std::string(shared_file("style.css")) + page.style;
  templates::Record values;
  values["TITLE"] = escape_html(page.title);
  values["SUMMARY"] = escape_html(page.summary);
  values["HINT"] = escape_html(page.hint);
  values["FOOTER"] =
      fmt::format("Made by kerf {}. This file is complete: it loads nothing from the network.", kKerfVersion);
  values["STYLE"] = style;
  values["STYLE_HASH"] = policy_hash(style);
  values["SCRIPT"] = code;
  values["SCRIPT_HASH"] = policy_hash(code);
  values["DATA"] = escape_json(page.data);
  return templates::fill("report.html", shared_file("report.html"), values);
}

bool is_html_report(std::string_view text) {
  // Escaping keeps this line out of everything that a page quotes.
  return text.starts_with("<!doctype html>") &&
         text.find("<a class=\"brand\" href=\"#summary\">kerf</a>") != std::string_view::npos;
}

}  // namespace kerf::report
