-- The most attempts that may be under way at a destination at a time, all workers together; null: as many as it copes with
-- (core/concurrency-limit.ts).
alter table destinations add column max_concurrency integer check (max_concurrency between 1 and 1000);
