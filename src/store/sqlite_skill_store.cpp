// Skills in SQLite, in the file of the memory.

#include <fmt/format.h>

#include <utility>

#include "skill/library.hpp"
#include "skill/skill_file.hpp"
#include "store/database.hpp"
#include "store/memory_database.hpp"

namespace kerf {
namespace {

class SqliteSkillStore final : public SkillStore {
 public:
  explicit SqliteSkillStore(store::Database database) : database_(std::move(database)) {}

  Result<std::vector<skill::Skill>> skills(std::vector<std::string>& skipped) const override {
    std::vector<skill::Skill> list;
    auto row = database_.prepare("SELECT id, record FROM skills ORDER BY id");
    for (;;) {
      KERF_TRY(const bool more, row.step());
      if (!more) return list;
      auto one = skill::skill_from_json(row.column_text(1));
      if (one)
        list.push_back(*std::move(one));
      else
        skipped.push_back(fmt::format("skill {}: {}", row.column_text(0), one.error().message));
    }
  }

  Status change(const std::vector<skill::Skill>& written, const std::vector<std::string>& removed) override {
    if (written.empty() && removed.empty()) return {};
    KERF_TRY(store::Transaction transaction, store::Transaction::begin(database_));
    for (const std::string& id : removed) {
      auto row = database_.prepare("DELETE FROM skills WHERE id = ?");
      KERF_TRY_VOID(row.text(id).run());
    }
    for (const skill::Skill& one : written) {
      auto row = database_.prepare("INSERT OR REPLACE INTO skills (id, name, state, record) VALUES (?, ?, ?, ?)");
      KERF_TRY_VOID(row.text(one.id).text(one.name).text(state_name(one.state)).text(to_json(one)).run());
    }
    return transaction.commit();
  }

  Result<std::vector<SkillUse>> note_uses(const std::vector<SkillUse>& uses) override {
    std::vector<SkillUse> fresh;
    if (uses.empty()) return fresh;
    KERF_TRY(store::Transaction transaction, store::Transaction::begin(database_));
    for (const SkillUse& use : uses) {
      auto row = database_.prepare("INSERT OR IGNORE INTO skill_uses (run, step, skill, gain) VALUES (?, ?, ?, ?)");
      KERF_TRY_VOID(row.text(use.run).integer(use.step).text(use.skill).real(use.gain).run());
      KERF_TRY(const auto changed, database_.integer("SELECT changes()"));
      if (changed > 0) fresh.push_back(use);
    }
    KERF_TRY_VOID(transaction.commit());
    return fresh;
  }

 private:
  mutable store::Database database_;
};

}  // namespace

Result<std::unique_ptr<SkillStore>> open_skill_store(const std::filesystem::path& file) {
  KERF_TRY(store::Database database, store::open_memory_database(file));
  return std::make_unique<SqliteSkillStore>(std::move(database));
}

}  // namespace kerf
