-- Skills with their evidence, by the identity of their content.
CREATE TABLE skills (
  id     TEXT PRIMARY KEY,
  name   TEXT NOT NULL,
  state  TEXT NOT NULL,
  record TEXT NOT NULL         -- JSON, docs/skills.md
) WITHOUT ROWID;

-- Kernels that were written with a skill, each learned from once.
CREATE TABLE skill_uses (
  number INTEGER PRIMARY KEY,
  run    TEXT NOT NULL,
  step   INTEGER NOT NULL,
  skill  TEXT NOT NULL,
  gain   REAL NOT NULL,        -- difference of log speedups
  UNIQUE (run, step, skill)
);
