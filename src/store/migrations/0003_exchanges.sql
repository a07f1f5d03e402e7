-- Conversations with models behind a step, in order; `exchange` is a JSON object (docs/runs.md).
CREATE TABLE exchanges (
  step INTEGER NOT NULL REFERENCES steps(number),
  position INTEGER NOT NULL,
  exchange TEXT NOT NULL,
  PRIMARY KEY (step, position)
);
