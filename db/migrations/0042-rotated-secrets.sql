-- The secret before the current one, encrypted like that, for as long as both are valid.
alter table destinations add column previous_signing_secret text;
alter table destinations add column previous_signing_secret_until timestamptz(3);
alter table sources add column previous_verification_secret text;
alter table sources add column previous_secret_until timestamptz(3);
