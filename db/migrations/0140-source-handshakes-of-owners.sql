-- What a source answers to a check of its address, and the token that the check must have, encrypted. A column of the source, because
-- ingest reads both with it.
alter table sources add column handshake jsonb;
alter table sources add column handshake_token text;
