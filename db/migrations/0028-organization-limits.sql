-- What an operator has set apart from the plan's defaults (core/limits.ts): {"<limit>": <number>, or null for no limit}.
alter table organizations add column limits jsonb not null default '{}' check (jsonb_typeof(limits) = 'object');
-- Set while the organization is suspended: ingest refuses its webhooks, and its deliveries wait.
alter table organizations add column suspended_at timestamptz(3);
