-- What the owner of a source needs to go on with a handshake (an address to visit, a token to enter), encrypted; and until when the provider
-- sends, where it says so. A release that does not know the columns leaves them as they are.
alter table source_handshakes add column shown text;
alter table source_handshakes add column lease_until timestamptz(3);
