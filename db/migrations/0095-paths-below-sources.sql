-- Whether a source takes webhooks at paths below its address.
alter table sources add column allow_paths boolean not null default false;
-- What followed the source, and its token, in the address of a webhook, as it was received. Empty: nothing.
alter table events add column path text not null default '';
-- Whether that path travels to a destination.
alter table destinations add column forward_path boolean not null default false;
