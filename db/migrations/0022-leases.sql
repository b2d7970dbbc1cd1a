-- Records that are removed unless somebody keeps renewing them: what `hookyard listen` makes for as long as it runs. A table of its
-- own, so that a renewal changes no configuration (organizations.config_version).
create table leases (
  -- Of a source, destination or route.
  record_id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  expires_at timestamptz(3) not null
);
-- Housekeeping finds what has expired.
create index leases_by_expiry on leases (expires_at);
