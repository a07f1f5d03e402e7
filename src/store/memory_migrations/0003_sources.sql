-- Texts of kernels, for those who learn from reading them. Untrusted.
CREATE TABLE sources (
  experience TEXT PRIMARY KEY,
  text       TEXT NOT NULL
) WITHOUT ROWID;
