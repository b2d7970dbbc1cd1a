-- One-time codes of the console's sign-in links (docs/security.md): a start makes one, and who sends it gets a key of the
-- organization. Only the SHA-256 is stored. The column is not called organization_id, so that the role of the tenants has no rights
-- on the table (db/tenants/policies.ts): a code is looked up before it is known whose it is.
create table console_codes (
  code_hash bytea primary key,
  owner_id text collate "C" not null references organizations (id) on delete cascade,
  expires_at timestamptz(3) not null
);
-- The rows of an organization that is deleted.
create index console_codes_by_owner on console_codes (owner_id);
