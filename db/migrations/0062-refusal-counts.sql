-- How many webhooks of a source were refused in an hour, by cause: all of them, while refused_webhooks has a sample.
create table refusal_counts (
  organization_id text collate "C" not null,
  source_id text collate "C" not null references sources (id) on delete cascade,
  -- When it begins.
  hour timestamptz(0) not null,
  cause text not null,
  -- Empty where it was about no limit of the organization.
  limit_name text not null default '',
  refusals bigint not null default 0,
  last_at timestamptz(3) not null,
  primary key (source_id, hour, cause, limit_name)
) with (fillfactor = 50);
-- Retention finds what is old.
create index refusal_counts_by_hour on refusal_counts (hour);
