#include "app/cli/bench_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/bench_text.hpp"
#include "base/one_line.hpp"

namespace kerf::cli {
namespace {

constexpr std::size_t kLineColumns = 100;  ///< of lines that are not on a terminal

std::string doing_key(const bench::Record& record, bench::Stage stage) {
  return fmt::format("{:<8} {}", bench::stage_word(stage), problem_id(record.problem));
}

/// "[######------] 23 of 100".
std::string bar(const bench::BenchProgress& progress, std::size_t width) {
  const auto full = progress.problems > 0 ? width * static_cast<std::size_t>(progress.finished) /
                                                static_cast<std::size_t>(progress.problems)
                                          : width;
  return "[" + std::string(full, '#') + std::string(width - full, '-') + "]";
}

}  // namespace

BenchView::BenchView(Console& console, Screen screen, bool silent)
    : console_(console), screen_(std::move(screen)), silent_(silent) {}

BenchView::~BenchView() {
  if (screen_.live) erase();
}

std::size_t BenchView::columns() const {
  return screen_.live ? static_cast<std::size_t>(std::max(screen_.columns ? screen_.columns() : 80, 20) - 1)
                      : kLineColumns;
}

void BenchView::erase() {
  if (lines_ > 0) console_.err << fmt::format("\x1b[{}A\r\x1b[J", lines_) << std::flush;
  lines_ = 0;
}

void BenchView::draw() {
  if (silent_ || !screen_.live) return;
  erase();
  const std::size_t width = columns();
  std::string block = paint(fit(progress_words(progress_), width), Colour::bold, console_.err_style) + "\n" +
                      fit("  " + bar(progress_, std::min<std::size_t>(width > 8 ? width - 8 : 1, 60)), width) + "\n";
  for (const auto& [what, words] : doing_) block += fit(fmt::format("  {:<18} {}", what, words), width) + "\n";
  console_.err << block << std::flush;
  lines_ = static_cast<int>(std::count(block.begin(), block.end(), '\n'));
}

void BenchView::began(const bench::BenchProgress& progress, const std::string& remark) {
  progress_ = progress;
  if (silent_) return;
  if (!remark.empty()) console_.err << remark << "\n";
  if (progress.finished > 0)
    console_.err << fmt::format("{} of {} are done already\n", progress.finished, progress.problems) << std::flush;
  draw();
}

void BenchView::stage_started(const bench::Record& record, bench::Stage stage, const bench::BenchProgress& progress) {
  progress_ = progress;
  doing_[doing_key(record, stage)] = one_line(record.problem.name);
  draw();
}

void BenchView::said(const bench::Record& record, bench::Stage stage, const std::string& words,
                     const bench::BenchProgress& progress) {
  progress_ = progress;
  doing_[doing_key(record, stage)] = one_line(words);
  draw();
}

void BenchView::stage_finished(const bench::Record& record, bench::Stage stage, const bench::BenchProgress& progress) {
  progress_ = progress;
  doing_.erase(doing_key(record, stage));
  draw();
}

void BenchView::problem_finished(const bench::Record& record, const bench::BenchProgress& progress) {
  progress_ = progress;
  if (silent_) return;
  erase();
  console_.err << problem_line(record, console_.err_style, columns());
  if (!screen_.live) console_.err << "    " << progress_words(progress) << "\n";
  console_.err << std::flush;
  draw();
}

}  // namespace kerf::cli
