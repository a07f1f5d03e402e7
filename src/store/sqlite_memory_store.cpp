// Memory in SQLite.

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "memory/memory_store.hpp"
#include "store/database.hpp"
#include "store/memory_database.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

using memory::Experience;
using memory::Moments;
using store::Database;
using store::Transaction;

constexpr int kKernelsOfTask = 48, kFailuresOfTask = 16;  // that are kept of a task on a target and device

std::string moments_key(memory::ValueStage stage) {
  return stage == memory::ValueStage::refine ? "moments" : fmt::format("moments {}", memory::value_stage_name(stage));
}

std::string moments_text(const Moments& moments) {
  return nlohmann::json{{"count", moments.count}, {"mean", moments.mean}, {"squares", moments.squares}}.dump();
}

Moments moments_from(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto number = [&](const char* key) {
    return json.is_object() && json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0.0;
  };
  return {number("count"), number("mean"), number("squares")};
}

class SqliteMemoryStore final : public MemoryStore {
 public:
  explicit SqliteMemoryStore(Database database) : database_(std::move(database)) {}

  Status add(const std::vector<Experience>& experiences) override {
    if (experiences.empty()) return {};
    KERF_TRY(Transaction transaction, Transaction::begin(database_));
    std::set<std::tuple<std::string, std::string, std::string>> places;
    for (Experience one : experiences) {
      KERF_TRY(const auto known, find(one.id));
      if (known) {
        one.values = known->values;
        one.seen = known->seen + (known->run == one.run ? 0 : 1);
        one.frozen = known->frozen;
        one.imported = known->imported && one.imported;
        keep_confirmed(*known, one);
      }
      KERF_TRY_VOID(put_source(one.id, std::exchange(one.source, {})));
      KERF_TRY_VOID(put(one));
      places.insert({one.signature.target, one.task_id, one.signature.device.name});
    }
    for (const auto& [target, task, device] : places) {
      KERF_TRY_VOID(trim(target, task, device, "kernel", kKernelsOfTask));
      KERF_TRY_VOID(trim(target, task, device, "failure", kFailuresOfTask));
    }
    KERF_TRY_VOID(
        database_.execute("DELETE FROM sources WHERE NOT EXISTS (SELECT 1 FROM experiences WHERE id = experience)"));
    return transaction.commit();
  }

  Status learn(const std::vector<MemoryUse>& uses, memory::Rule rule) override {
    if (uses.empty()) return {};
    KERF_TRY(Transaction transaction, Transaction::begin(database_));
    std::map<memory::ValueStage, Moments> moments;
    for (const auto stage : memory::kValueStages) {
      KERF_TRY(moments[stage], this->moments(stage));
    }
    for (const MemoryUse& use : uses) {
      KERF_TRY(auto one, find(use.experience));
      if (!one) continue;
      KERF_TRY(const bool is_new, note_use(use));
      if (!is_new) continue;
      const bool refine = memory::is_refining(use.stage);
      if (!one->frozen) {
        memory::learn(one->values[use.stage], use.family,
                      refine ? memory::scaled_reward(use.reward, moments[use.stage], rule) : use.reward, rule);
        KERF_TRY_VOID(put(*one));
      }
      if (refine) moments[use.stage].add(use.reward);
    }
    for (const auto& [stage, one] : moments) {
      if (one.count == 0) continue;
      auto row = database_.prepare("INSERT OR REPLACE INTO facts (key, value) VALUES (?, ?)");
      KERF_TRY_VOID(row.text(moments_key(stage)).text(moments_text(one)).run());
    }
    return transaction.commit();
  }

  Result<std::vector<Experience>> experiences(const std::string& target,
                                              std::vector<std::string>& skipped) const override {
    std::vector<Experience> list;
    auto row = database_.prepare("SELECT id, record FROM experiences WHERE ?1 = '' OR target = ?1 ORDER BY id");
    row.text(target);
    for (;;) {
      KERF_TRY(const bool more, row.step());
      if (!more) return list;
      auto one = memory::experience_from_json(row.column_text(1));
      if (one)
        list.push_back(*std::move(one));
      else
        skipped.push_back(fmt::format("experience {}: {}", row.column_text(0), one.error().message));
    }
  }

  Result<Moments> moments(memory::ValueStage stage) const override {
    auto row = database_.prepare("SELECT value FROM facts WHERE key = ?");
    row.text(moments_key(stage));
    KERF_TRY(const bool found, row.step());
    return found ? moments_from(row.column_text(0)) : Moments{};
  }

  Result<std::string> source(const std::string& experience) const override {
    auto row = database_.prepare("SELECT text FROM sources WHERE experience = ?");
    row.text(experience);
    KERF_TRY(const bool found, row.step());
    return found ? row.column_text(0) : std::string();
  }

  Result<std::vector<MemoryUse>> uses(const std::string& experience) const override {
    std::vector<MemoryUse> list;
    auto row =
        database_.prepare("SELECT run, step, stage, family, reward FROM uses WHERE experience = ? ORDER BY number");
    row.text(experience);
    for (;;) {
      KERF_TRY(const bool more, row.step());
      if (!more) return list;
      const auto stage = memory::value_stage_from_name(row.column_text(2));
      if (stage)
        list.push_back(
            {row.column_text(0), row.column_integer(1), experience, *stage, row.column_text(3), row.column_real(4)});
    }
  }

 private:
  /// None when it is not there, or cannot be read and is written anew.
  Result<std::optional<Experience>> find(const std::string& id) const {
    auto row = database_.prepare("SELECT record FROM experiences WHERE id = ?");
    row.text(id);
    KERF_TRY(const bool found, row.step());
    if (!found) return std::optional<Experience>{};
    auto one = memory::experience_from_json(row.column_text(0));
    return one ? std::optional(*std::move(one)) : std::optional<Experience>{};
  }

  Status put(const Experience& one) {
    auto row = database_.prepare(
        "INSERT OR REPLACE INTO experiences (id, kind, task, task_id, target, device, share, record) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    return row.text(one.id)
        .text(one.kind)
        .text(one.task)
        .text(one.task_id)
        .text(one.signature.target)
        .text(one.signature.device.name)
        .real(one.share)
        .text(to_json(one))
        .run();
  }

  /// A text that is not there any more is kept: the same kernel was seen without it.
  Status put_source(const std::string& id, const std::string& text) {
    if (text.empty()) return {};
    auto row = database_.prepare("INSERT OR REPLACE INTO sources (experience, text) VALUES (?, ?)");
    return row.text(id).text(text).run();
  }

  Status trim(const std::string& target, const std::string& task, const std::string& device, const char* kind,
              int most) {
    auto row = database_.prepare(
        "DELETE FROM experiences WHERE id IN (SELECT id FROM experiences WHERE target = ? AND task_id = ? AND "
        "device = ? AND kind = ? ORDER BY share DESC, id LIMIT -1 OFFSET ?)");
    return row.text(target).text(task).text(device).text(kind).integer(most).run();
  }

  Result<bool> note_use(const MemoryUse& use) {
    auto row = database_.prepare(
        "INSERT OR IGNORE INTO uses (run, step, experience, stage, family, reward) VALUES (?, ?, ?, ?, ?, ?)");
    KERF_TRY_VOID(row.text(use.run)
                      .integer(use.step)
                      .text(use.experience)
                      .text(memory::value_stage_name(use.stage))
                      .text(use.family)
                      .real(use.reward)
                      .run());
    KERF_TRY(const auto changed, database_.integer("SELECT changes()"));
    return changed > 0;
  }

  mutable Database database_;
};

}  // namespace

Result<std::unique_ptr<MemoryStore>> open_memory_store(const fs::path& file) {
  KERF_TRY(Database database, store::open_memory_database(file));
  return std::make_unique<SqliteMemoryStore>(std::move(database));
}

}  // namespace kerf
