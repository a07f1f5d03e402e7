#include "report/html_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "base/hash.hpp"
#include "base/template.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "run/standing.hpp"

namespace kerf::report {

/// Generated: the files of page/.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

namespace {

std::string_view file(std::string_view name) {
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

/// Every script of the page in the order of the list in CMakeLists.txt.
std::string script() {
  std::string text = "(() => {\n'use strict';\n";
  for (const auto& [name, content] : embedded_files())
    if (name.ends_with(".js")) text += content;
  return text + "})();\n";
}

std::string summary(const RunView& run) {
  const std::string steps = counted(run.steps.size(), "step");
  if (run.best == 0) return steps + "; nothing was measured yet.";
  const Measurement* measurement = measurement_of(run.step(run.best));
  if (measurement == nullptr) return steps + "; nothing was timed.";
  if (is_fallback(run.step(run.best))) return fmt::format("The plain kernel stays the best after {}.", steps);
  return fmt::format("Step {} is {}: {:.3g} times as fast, after {}.", run.best, standing_text(measurement->speedup),
                     measurement->speedup.ratio, steps);
}

}  // namespace

std::string html_report(const RunView& run, const std::vector<ShapeCost>& costs) {
  const std::string code = script(), style(file("style.css"));
  const std::string title = fmt::format("{} on {} · kerf", run.fact("task"), run.fact("target"));
  templates::Record values;
  values["TITLE"] = escape_html(title);
  values["SUMMARY"] = escape_html(summary(run));
  values["FOOTER"] =
      fmt::format("Made by kerf {}. This file is complete: it loads nothing from the network.", kKerfVersion);
  values["STYLE"] = style;
  values["STYLE_HASH"] = policy_hash(style);
  values["SCRIPT"] = code;
  values["SCRIPT_HASH"] = policy_hash(code);
  values["DATA"] = escape_json(report_data(run, costs));
  return templates::fill("report.html", file("report.html"), values);
}

bool is_html_report(std::string_view text) {
  // Escaping keeps this line out of everything that a page quotes.
  return text.starts_with("<!doctype html>") &&
         text.find("<a class=\"brand\" href=\"#summary\">kerf</a>") != std::string_view::npos;
}

}  // namespace kerf::report
