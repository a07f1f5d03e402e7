-- Variants of the prompt that models wrote, for all tasks of a target. Untrusted.
CREATE TABLE prompts (
  target      TEXT NOT NULL,
  id          TEXT NOT NULL,
  parent      TEXT NOT NULL,
  text        TEXT NOT NULL,   -- all sections, docs/minds.md
  recorded_ms INTEGER NOT NULL,
  PRIMARY KEY (target, id)
) WITHOUT ROWID;

-- What came of each in each run; a run that is resumed replaces its rows.
CREATE TABLE prompt_runs (
  target TEXT NOT NULL,
  prompt TEXT NOT NULL,
  run    TEXT NOT NULL,
  uses   INTEGER NOT NULL,
  mean   REAL NOT NULL,
  square REAL NOT NULL,
  best   REAL NOT NULL,
  PRIMARY KEY (target, prompt, run)
) WITHOUT ROWID;
