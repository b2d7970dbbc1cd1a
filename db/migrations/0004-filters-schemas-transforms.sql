-- What routes refer to by id: filters, JSON schemas and transforms. A change of one raises the configuration version of
-- its organization like a change of a route, because ingest evaluates filters and schemas from its cached routing.

create table filters (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null,
  slug text not null,
  description text,
  conditions jsonb not null,
  logic text not null default 'AND' check (logic in ('AND', 'OR')),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint filters_slug_unique unique (organization_id, slug)
);

create table schemas (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null,
  slug text not null,
  description text,
  schema jsonb not null,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint schemas_slug_unique unique (organization_id, slug)
);

create table transforms (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null,
  slug text not null,
  description text,
  type text not null check (type in ('jsonata', 'javascript', 'liquid')),
  code text not null,
  output_content_type text,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint transforms_slug_unique unique (organization_id, slug)
);

create trigger filters_config_version after insert or update or delete on filters
  for each row execute function raise_config_version();
create trigger schemas_config_version after insert or update or delete on schemas
  for each row execute function raise_config_version();
create trigger transforms_config_version after insert or update or delete on transforms
  for each row execute function raise_config_version();
