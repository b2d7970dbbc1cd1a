-- Issues of which a channel may have to be told: a round of alerts looks at these only (db/alerts/due.ts). Rows are only inserted, so
-- that nobody waits for a round; a round takes them, and adds what is still to be told later. One too many costs a look.
create table alert_checks (
  id bigint generated always as identity primary key,
  organization_id text collate "C" not null,
  -- Null: every issue of the organization, because one of its channels has changed.
  issue_id text collate "C",
  due_at timestamptz(3) not null default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index alert_checks_due on alert_checks (due_at);
create index alert_checks_by_organization on alert_checks (organization_id, due_at);

create function check_changed_issues() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into alert_checks (organization_id, issue_id) select organization_id, id from fresh;
  else
    insert into alert_checks (organization_id, issue_id)
    select n.organization_id, n.id from fresh n join stale o using (id)
    where n.state <> o.state or n.changed_at <> o.changed_at or (n.count <> o.count and exists (
      select from alert_channels c
      where c.organization_id = n.organization_id and c.after_count > o.count and c.after_count <= n.count));
  end if;
  return null;
end $$;
create trigger issues_check_inserted after insert on issues referencing new table as fresh
  for each statement execute function check_changed_issues();
create trigger issues_check_updated after update on issues referencing old table as stale new table as fresh
  for each statement execute function check_changed_issues();

create function check_issues_of_channel() returns trigger language plpgsql as $$
begin
  insert into alert_checks (organization_id) values (new.organization_id);
  return null;
end $$;
create trigger alert_channels_check_inserted after insert on alert_channels
  for each row when (new.enabled) execute function check_issues_of_channel();
-- What a round itself writes, and that a message has arrived as always, changes nothing.
create trigger alert_channels_check_updated after update on alert_channels
  for each row when (new.enabled and (
    (new.version, new.failing_since, new.last_sent_at is null) is distinct from (old.version, old.failing_since, old.last_sent_at is null)
    or (old.last_digest_at is not null and new.last_digest_at is null)))
  execute function check_issues_of_channel();

-- A message has ended: what has changed meanwhile is to be told, or what it has not told.
create function check_announced_issue() returns trigger language plpgsql as $$
begin
  insert into alert_checks (organization_id, issue_id) values (new.organization_id, new.issue_id);
  return null;
end $$;
create trigger alert_announcements_check_updated after update on alert_announcements
  for each row when (new.message_id is null and (old.message_id is not null or new.told is distinct from old.told))
  execute function check_announced_issue();

-- What is to be told now.
insert into alert_checks (organization_id) select distinct organization_id from alert_channels where enabled;
