-- Management requests that were sent with an Idempotency-Key, and the answers they got (README.md, "Using the API").
create table idempotent_requests (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  -- SHA-256 of path and key: of one length, whatever was sent.
  id bytea not null,
  -- SHA-256 of the body. A repeat with another one is refused.
  body_hash bytea not null,
  -- Of the API key that asked: an answer may hold what a key with fewer scopes may not see.
  scopes text[] not null,
  -- Who runs it, until when the others leave it alone. Renewed while it runs; after a crash it passes and a repeat takes over.
  lease text not null,
  leased_until timestamptz not null,
  -- Status, headers and body, encrypted, because some answers show a secret for the only time. Null while it runs.
  answer text,
  expires_at timestamptz not null,
  primary key (organization_id, id)
);
-- Housekeeping finds what has expired.
create index idempotent_requests_by_expiry on idempotent_requests (expires_at);
