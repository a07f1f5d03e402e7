-- Small facts about the run by name: task, target, seed, best_step, ...
CREATE TABLE facts (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Every proposal that was reported, in order, numbered from 1 without gaps.
CREATE TABLE steps (
  number      INTEGER PRIMARY KEY,
  stage       TEXT NOT NULL,
  proposer    TEXT NOT NULL,
  operation   TEXT NOT NULL,
  change      TEXT NOT NULL,
  name        TEXT NOT NULL,
  candidate   TEXT NOT NULL,      -- SHA-256 of the source
  source      BLOB NOT NULL,      -- byte for byte: kernels need not be UTF-8
  genome      TEXT NOT NULL,
  tunables    TEXT NOT NULL,      -- JSON object
  direction   TEXT NOT NULL,
  outcome     TEXT NOT NULL,      -- as in the evaluation
  evaluation  TEXT NOT NULL,      -- JSON, docs/formats.md
  cell        TEXT NOT NULL,      -- JSON array; [] when it was not measured
  descriptors TEXT NOT NULL,
  decision    TEXT NOT NULL,
  kept        INTEGER NOT NULL,
  seconds     REAL
);
CREATE INDEX steps_by_candidate ON steps (candidate);

CREATE TABLE parents (
  step     INTEGER NOT NULL REFERENCES steps (number),
  position INTEGER NOT NULL,
  parent   INTEGER NOT NULL REFERENCES steps (number),
  PRIMARY KEY (step, position)
) WITHOUT ROWID;

-- What events.jsonl must hold, line by line; the file is brought into step with this table.
CREATE TABLE events (
  number INTEGER PRIMARY KEY,
  line   TEXT NOT NULL            -- JSON, without the newline
);
