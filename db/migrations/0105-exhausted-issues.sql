-- A channel is told once more when a delivery of an issue fails for good, after it was told that deliveries fail (docs/alerts.md).
alter table issues
  -- When that was counted first, since the issue opened. Null: no delivery has; issues of other kinds never have it.
  add column exhausted_at timestamptz(3);
alter table alert_announcements
  -- Whether the channel was told of it.
  add column told_exhausted boolean not null default false;
-- What is told already is not told again.
update issues set exhausted_at = last_seen_at
where kind = 'delivery_failing' and state <> 'resolved'
  and exists (select from deliveries d where d.id = issues.sample_delivery_id and d.status = 'failed');
update alert_announcements a set told_exhausted = true from issues i where i.id = a.issue_id and i.exhausted_at is not null;
