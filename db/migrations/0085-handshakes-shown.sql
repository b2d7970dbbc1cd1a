-- What the owner of a source needs to go on with its last handshake (an address to visit, a token to enter at the provider), encrypted. A
-- release that does not know the column leaves it as it is.
alter table source_handshakes add column shown text;
