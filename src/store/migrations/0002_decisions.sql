-- The decision behind each proposal and where the proposal came from, both JSON objects; {} for steps of schema 1.
ALTER TABLE steps ADD COLUMN asked TEXT NOT NULL DEFAULT '{}';
ALTER TABLE steps ADD COLUMN provenance TEXT NOT NULL DEFAULT '{}';
