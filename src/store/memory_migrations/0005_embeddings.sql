-- Vectors of texts by embedding models, so that each is asked for once.
CREATE TABLE embeddings (
  number INTEGER PRIMARY KEY,
  model  TEXT NOT NULL,        -- its endpoint's address and name
  text   TEXT NOT NULL,        -- SHA-256
  vector BLOB NOT NULL,        -- 32-bit floats, little endian
  UNIQUE (model, text)
);
