-- A failure soon after `resolved` opens the last issue of its key again (db/issues/record.ts), found by this index.
create index issues_resolved_lately on issues
  (organization_id, kind, coalesce(source_id, ''), coalesce(route_id, ''), coalesce(destination_id, ''), cause, resolved_at desc)
  where state = 'resolved';
