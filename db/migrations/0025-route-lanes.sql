-- As 0023, for core/lane.ts.
alter table routes drop constraint routes_lane_check;
