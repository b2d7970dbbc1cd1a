-- The release that a worker runs, for GET /api/status. Null: a worker of an earlier release.
alter table relays add column version text;
