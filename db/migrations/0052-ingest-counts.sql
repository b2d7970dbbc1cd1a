-- Events as they are counted at ingest: in slots, so that groups of one source that are stored at the same time do not wait for
-- each other's row. Ended buckets are folded into ingest_stats (db/history/fold-ingest.ts); until then only here, not in the
-- total of all time either. Processes of an earlier release go on to write ingest_stats, and the sum stays right.
create table ingest_counts (
  subject_id text collate "C" not null,
  bucket timestamptz(0) not null,
  slot smallint not null,
  events bigint not null default 0,
  filtered bigint not null default 0,
  last_event_at timestamptz(3),
  primary key (subject_id, bucket, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
