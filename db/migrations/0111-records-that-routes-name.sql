-- A route that names a filter, schema or transform which is not there would be read as a route without one: it would take and send
-- everything. The API refuses to delete what a route names; this also stops every other way. At the end of a statement, because
-- deleting an organization deletes both.
alter table routes
  add constraint routes_filter_exists foreign key (filter_id) references filters (id),
  add constraint routes_schema_exists foreign key (schema_id) references schemas (id),
  add constraint routes_transform_exists foreign key (transform_id) references transforms (id);
-- For these checks.
create index routes_by_filter on routes (filter_id) where filter_id is not null;
create index routes_by_schema on routes (schema_id) where schema_id is not null;
create index routes_by_transform on routes (transform_id) where transform_id is not null;
