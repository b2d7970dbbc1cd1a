-- As 0023, for core/warehouse/config.ts. A migration apart: one that locks several tables could wait for a statement that waits for it.
alter table destinations drop constraint destinations_type_check;
