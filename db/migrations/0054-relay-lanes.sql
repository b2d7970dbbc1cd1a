-- The lane that a relay takes for deliveries without a lane of their own, for /readyz. It changes while a relay in the lane `adaptive`
-- runs. Null: a relay of an earlier release.
alter table relays add column lane text;
