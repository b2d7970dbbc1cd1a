-- What an organization asks for with GET /api/metrics: attempts by the status code of their answer, and deliveries by how they
-- ended. Written with what it counts, by the statements that change the deliveries (db/delivery/figures.ts), in buckets of 5
-- minutes. Housekeeping merges them into hours and days (db/history/merge-buckets.ts).
--
-- With its organization, and without a foreign key: what went to a destination that is deleted later stays. The key begins with
-- what every question names, so an answer is one range of the index, of as many rows as there were ways, codes and buckets.
-- Processes of an earlier release do not write it.
create table delivery_figures (
  organization_id text collate "C" not null,
  bucket timestamptz(0) not null,
  destination_id text collate "C" not null,
  route_id text collate "C" not null,
  source_id text collate "C" not null,
  -- Of the answer: 100 to 599, and 600 for any other. 0: there was no answer. -1: deliveries that ended without an attempt.
  -- So at most 503 values, whatever a destination answers.
  status_code smallint not null,
  attempts bigint not null default 0,
  -- ms, of attempts with an answer
  latency_sum bigint not null default 0,
  delivered bigint not null default 0,
  failed bigint not null default 0,
  failed_over bigint not null default 0,
  not_sent bigint not null default 0,
  cancelled bigint not null default 0,
  primary key (organization_id, bucket, destination_id, route_id, source_id, status_code)
) with (fillfactor = 50);
