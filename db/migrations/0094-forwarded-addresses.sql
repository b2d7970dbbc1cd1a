-- Whether the query of a webhook travels to a destination.
alter table destinations add column forward_query boolean not null default false;
