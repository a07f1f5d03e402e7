-- Small facts by name: "moments" (JSON, of all refine rewards).
CREATE TABLE facts (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Everything that was learned from, by the identity of its content.
CREATE TABLE experiences (
  id      TEXT PRIMARY KEY,
  kind    TEXT NOT NULL,
  task    TEXT NOT NULL,
  task_id TEXT NOT NULL,
  target  TEXT NOT NULL,
  device  TEXT NOT NULL,
  share   REAL NOT NULL,       -- of its run's best speed; 0 for failures
  record  TEXT NOT NULL        -- JSON, docs/memory.md
) WITHOUT ROWID;
CREATE INDEX experiences_by_target ON experiences (target, task_id, device);

-- Rewards, in the order in which they were learned.
CREATE TABLE uses (
  number     INTEGER PRIMARY KEY,
  run        TEXT NOT NULL,
  step       INTEGER NOT NULL,
  experience TEXT NOT NULL,
  stage      TEXT NOT NULL,
  family     TEXT NOT NULL,
  reward     REAL NOT NULL,
  UNIQUE (run, step, experience)
);
CREATE INDEX uses_by_experience ON uses (experience);
