-- Leases on records are gone: what their end deleted had no record in the audit log. `hookyard listen` was their only user; it removes
-- what it has made itself, by the operations of the API.
drop table leases;
