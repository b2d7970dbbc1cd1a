-- The last handshake of each source: a provider asked whether the address is meant to receive its webhooks, and was answered. Written
-- by API processes every second in one statement (db/handshakes.ts).
create table source_handshakes (
  source_id text collate "C" primary key references sources (id) on delete cascade,
  organization_id text collate "C" not null,
  kind text not null,
  answered_at timestamptz(3) not null
);
