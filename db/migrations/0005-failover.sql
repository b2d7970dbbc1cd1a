-- Failover: a delivery to a failover destination knows where the event was to go first, and why it did not get there.
alter table deliveries
  add column original_destination_id text collate "C",
  add column failover_reason text;

-- So that the workflow of a failover delivery can name the delivery it takes over from.
alter table outbox add column failover_of text collate "C";

-- Deliveries a destination did not take and that went to a failover destination instead: they count against its health,
-- but not in the totals of their route, where the delivery that took over counts.
alter table delivery_stats add column failed_over bigint not null default 0;
