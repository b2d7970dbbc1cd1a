-- What operators do with organizations (docs/organizations.md).

alter table organizations
  -- When the last suspension ended: how long a file may be retried is counted from here.
  add column resumed_at timestamptz(3),
  -- When its deletion was requested. From then on it is suspended too, and everything of it is removed in the background
  -- (db/organizations/deletion.ts).
  add column deleted_at timestamptz(3),
  -- Events removed so far, each with its payload, deliveries and attempts.
  add column events_removed bigint not null default 0,
  -- When nothing of it was left. What was being written meanwhile is looked for once more.
  add column emptied_at timestamptz(3);

-- Every worker reads the suspended ones each second.
create index organizations_suspended on organizations (id) where suspended_at is not null;

-- As before (0001), except for an organization that is being deleted: nobody reads its version any more, and one update of the same
-- row for each of thousands of records in one transaction is slow.
create or replace function raise_config_version() returns trigger language plpgsql as $$
begin
  update organizations set config_version = config_version + 1
  where id = coalesce(new.organization_id, old.organization_id) and deleted_at is null;
  return null;
end $$;
