#pragma once
// A bench as people watch it: a block that is redrawn on terminals, a line per problem elsewhere.

#include <map>
#include <string>

#include "app/cli/environment.hpp"
#include "app/cli/search_view.hpp"
#include "bench/bench.hpp"

namespace kerf::cli {

class BenchView final : public bench::BenchObserver {
 public:
  BenchView(Console& console, Screen screen, bool silent);
  ~BenchView() override;

  void began(const bench::BenchProgress& progress, const std::string& remark) override;
  void stage_started(const bench::Record& record, bench::Stage stage, const bench::BenchProgress& progress) override;
  void said(const bench::Record& record, bench::Stage stage, const std::string& words,
            const bench::BenchProgress& progress) override;
  void stage_finished(const bench::Record& record, bench::Stage stage, const bench::BenchProgress& progress) override;
  void problem_finished(const bench::Record& record, const bench::BenchProgress& progress) override;

 private:
  std::size_t columns() const;
  void draw();
  void erase();

  Console& console_;
  Screen screen_;
  bool silent_;
  bench::BenchProgress progress_;
  std::map<std::string, std::string> doing_;  // "1/23 search" to what it does
  int lines_ = 0;                             // of the block on the screen
};

}  // namespace kerf::cli
