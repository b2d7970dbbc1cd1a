-- Whether a source's address has an unguessable part; the token itself and the one before it are encrypted, because the API
-- shows the address. A release that does not know these columns takes webhooks at the address without a token.
alter table sources add column ingest_token text not null default 'none' check (ingest_token in ('none', 'optional', 'required'));
alter table sources add column ingest_token_value text;
alter table sources add column previous_token_value text;
alter table sources add column previous_token_until timestamptz(3);
-- Whether those who cannot prove who they are are answered as if there were no such source.
alter table sources add column concealed boolean not null default false;
