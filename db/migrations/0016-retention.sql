-- Deleting a source returns at once and its rows go in the background (db/source-purges.ts).

-- Keys of webhooks go with the other rows of a source, and not, by the million, in the request that deletes it. Webhooks are
-- accepted only by a configuration in which their source exists, so the reference says nothing more.
alter table idempotency_keys drop constraint idempotency_keys_source_id_fkey;

alter table source_purges
  -- Events removed so far, each with its payload, deliveries and attempts.
  add column events_removed bigint not null default 0,
  -- When none was left. A webhook that was being stored meanwhile is looked for once more.
  add column emptied_at timestamptz(3);
