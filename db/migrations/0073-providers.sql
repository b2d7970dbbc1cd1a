-- The provider of a source, by its name (providers/). Its verification is {"type": "provider"}; the secrets of the provider are in
-- verification_secret, as JSON. A release that does not know the column refuses what is sent to such a source; when it
-- gives the source a verification of another type, that counts, and the provider is left over.
alter table sources add column provider text;
-- What is answered to an accepted webhook: status, body, contentType. Null: the default. A release that does not know the column
-- answers the default.
alter table sources add column answer jsonb;
