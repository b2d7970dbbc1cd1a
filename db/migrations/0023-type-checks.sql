-- The API alone writes these columns, and checks them by its registries (core/transform-types.ts, core/warehouse/config.ts,
-- core/lane.ts): a list here would be a second place to change for every new one. Safe while an earlier release still runs: it
-- writes nothing that the checks would have refused.
alter table transforms drop constraint transforms_type_check;
alter table destinations drop constraint destinations_type_check;
alter table routes drop constraint routes_lane_check;
