// Memory in SQLite.

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/version.hpp"
#include "memory/memory_store.hpp"
#include "store/database.hpp"

namespace kerf::store_memory {

/// Generated: path and text of every migration, by number.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

}  // namespace kerf::store_memory

namespace kerf {
namespace {

namespace fs = std::filesystem;

using memory::Experience;
using memory::Moments;
using store::Database;
using store::Transaction;

constexpr std::int64_t kMemoryMark = 0x4b52464d;          // PRAGMA application_id: "KRFM"
constexpr int kKernelsOfTask = 48, kFailuresOfTask = 16;  // that are kept of a task on a target and device

Status check_memory_file(Database& database, const fs::path& file) {
  KERF_TRY(const auto mark, database.integer("PRAGMA application_id"));
  KERF_TRY(const auto version, database.integer("PRAGMA user_version"));
  KERF_TRY(const auto tables, database.integer("SELECT count(*) FROM sqlite_master"));
  if (mark != kMemoryMark && (version != 0 || tables != 0))
    return fail(Errc::invalid_input,
                fmt::format("{} is a database, but not a memory; name another file", file.string()));
  if (version > kMemorySchema)
    return fail(Errc::invalid_input,
                fmt::format("{} was written by a newer kerf (schema {}, this is kerf {} with schema {}); use that one",
                            file.string(), version, kKerfVersion, kMemorySchema));
  return {};
}

Status migrate_memory(Database& database, const fs::path& file) {
  KERF_TRY_VOID(check_memory_file(database, file));
  const auto files = store_memory::embedded_files();
  KERF_CHECK(files.size() == static_cast<std::size_t>(kMemorySchema), "one migration per schema version");
  KERF_TRY(auto version, database.integer("PRAGMA user_version"));
  if (version == kMemorySchema) return {};
  KERF_TRY(Transaction transaction, Transaction::begin(database));
  KERF_TRY(version, database.integer("PRAGMA user_version"));  // another process may have been first
  for (; version < kMemorySchema; ++version)
    KERF_TRY_VOID(database.execute(std::string(files[static_cast<std::size_t>(version)].second)));
  KERF_TRY_VOID(database.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kMemoryMark, kMemorySchema)));
  return transaction.commit();
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
      }
      KERF_TRY_VOID(put(one));
      places.insert({one.signature.target, one.task_id, one.signature.device.name});
    }
    for (const auto& [target, task, device] : places) {
      KERF_TRY_VOID(trim(target, task, device, "kernel", kKernelsOfTask));
      KERF_TRY_VOID(trim(target, task, device, "failure", kFailuresOfTask));
    }
    return transaction.commit();
  }

  Status learn(const std::vector<MemoryUse>& uses, memory::Rule rule) override {
    if (uses.empty()) return {};
    KERF_TRY(Transaction transaction, Transaction::begin(database_));
    KERF_TRY(Moments moments, this->moments());
    for (const MemoryUse& use : uses) {
      KERF_TRY(auto one, find(use.experience));
      if (!one) continue;
      KERF_TRY(const bool is_new, note_use(use));
      if (!is_new) continue;
      const bool refine = use.stage == memory::ValueStage::refine;
      if (!one->frozen) {
        memory::learn(one->values[use.stage], use.family,
                      refine ? memory::scaled_reward(use.reward, moments, rule) : use.reward, rule);
        KERF_TRY_VOID(put(*one));
      }
      if (refine) moments.add(use.reward);
    }
    auto row = database_.prepare("INSERT OR REPLACE INTO facts (key, value) VALUES ('moments', ?)");
    KERF_TRY_VOID(row.text(moments_text(moments)).run());
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

  Result<Moments> moments() const override {
    auto row = database_.prepare("SELECT value FROM facts WHERE key = 'moments'");
    KERF_TRY(const bool found, row.step());
    return found ? moments_from(row.column_text(0)) : Moments{};
  }

  Result<std::vector<MemoryUse>> uses(const std::string& experience) const override {
    std::vector<MemoryUse> list;
    auto row =
        database_.prepare("SELECT run, step, stage, family, reward FROM uses WHERE experience = ? ORDER BY number");
    row.text(experience);
    for (;;) {
      KERF_TRY(const bool more, row.step());
      if (!more) return list;
      list.push_back({row.column_text(0), row.column_integer(1), experience,
                      row.column_text(2) == "draft" ? memory::ValueStage::draft : memory::ValueStage::refine,
                      row.column_text(3), row.column_real(4)});
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
  std::error_code error;
  if (fs::is_directory(file, error))
    return fail(Errc::invalid_input, fmt::format("{} is a folder; a memory is a file", file.string()));
  error.clear();
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  if (error) return fail(Errc::io, fmt::format("cannot make {}: {}", file.parent_path().string(), error.message()));
  const auto named = [&](const Error& cause) {
    return fail(cause.code, fmt::format("the memory cannot be used: {}; move the file away, name another one, or go on "
                                        "with --memory off",
                                        cause.message));
  };
  if (fs::exists(file, error)) {  // looked at before anything is written to it
    auto found = Database::open(file, Database::Mode::read);
    if (!found) return named(found.error());
    if (const Status ours = check_memory_file(*found, file); !ours) return named(ours.error());
  }
  auto opened = Database::open(file, Database::Mode::create);
  if (!opened) return named(opened.error());
  if (const Status ready = migrate_memory(*opened, file); !ready) return named(ready.error());
  return std::make_unique<SqliteMemoryStore>(*std::move(opened));
}

}  // namespace kerf
