// Variants of the prompt in SQLite, in the file of the memory.

#include <utility>

#include "memory/prompt_store.hpp"
#include "store/database.hpp"
#include "store/memory_database.hpp"

namespace kerf {
namespace {

class SqlitePromptStore final : public PromptStore {
 public:
  explicit SqlitePromptStore(store::Database database) : database_(std::move(database)) {}

  Result<std::vector<KeptPrompt>> prompts(const std::string& target) const override {
    std::vector<KeptPrompt> list;
    auto row = database_.prepare(
        "SELECT p.target, p.id, p.parent, p.text, p.recorded_ms, r.run, r.uses, r.mean, r.square, r.best "
        "FROM prompts p LEFT JOIN prompt_runs r ON r.target = p.target AND r.prompt = p.id "
        "WHERE ? = '' OR p.target = ? ORDER BY p.recorded_ms, p.id, p.target, r.run");
    row.text(target).text(target);
    for (;;) {
      KERF_TRY(const bool more, row.step());
      if (!more) return list;
      KeptPrompt one{row.column_text(1), row.column_text(0), row.column_text(2), row.column_text(3),
                     row.column_integer(4)};
      if (list.empty() || list.back().id != one.id || list.back().target != one.target) list.push_back(std::move(one));
      if (row.column_text(5).empty()) continue;
      list.back().runs += 1;
      list.back().figures = pooled(list.back().figures, {static_cast<int>(row.column_integer(6)), row.column_real(7),
                                                         row.column_real(8), row.column_real(9)});
    }
  }

  Status keep(const std::string& run, const std::vector<KeptPrompt>& prompts) override {
    if (prompts.empty()) return {};
    KERF_TRY(store::Transaction transaction, store::Transaction::begin(database_));
    for (const KeptPrompt& one : prompts) {
      auto added = database_.prepare(
          "INSERT OR IGNORE INTO prompts (target, id, parent, text, recorded_ms) VALUES (?, ?, ?, ?, ?)");
      KERF_TRY_VOID(added.text(one.target).text(one.id).text(one.parent).text(one.text).integer(one.recorded_ms).run());
      if (run.empty() || one.figures.uses <= 0) continue;
      auto row = database_.prepare(
          "INSERT OR REPLACE INTO prompt_runs (target, prompt, run, uses, mean, square, best) "
          "VALUES (?, ?, ?, ?, ?, ?, ?)");
      const PromptFigures& figures = one.figures;
      row.text(one.target).text(one.id).text(run).integer(figures.uses);
      KERF_TRY_VOID(row.real(figures.mean).real(figures.square).real(figures.best).run());
    }
    return transaction.commit();
  }

  Status remove(const std::vector<KeptPrompt>& prompts) override {
    if (prompts.empty()) return {};
    KERF_TRY(store::Transaction transaction, store::Transaction::begin(database_));
    for (const KeptPrompt& one : prompts) {
      auto figures = database_.prepare("DELETE FROM prompt_runs WHERE target = ? AND prompt = ?");
      KERF_TRY_VOID(figures.text(one.target).text(one.id).run());
      auto text = database_.prepare("DELETE FROM prompts WHERE target = ? AND id = ?");
      KERF_TRY_VOID(text.text(one.target).text(one.id).run());
    }
    return transaction.commit();
  }

 private:
  mutable store::Database database_;
};

}  // namespace

Result<std::unique_ptr<PromptStore>> open_prompt_store(const std::filesystem::path& file) {
  KERF_TRY(store::Database database, store::open_memory_database(file));
  return std::make_unique<SqlitePromptStore>(std::move(database));
}

}  // namespace kerf
