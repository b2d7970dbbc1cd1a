// Rows that tests change or look at past the API, each by one statement.
import type { Pool } from '../../db/connections/pool.ts';

type Db = Pick<Pool, 'query'>;

export const emptyOutbox = (db: Db) => db.query('truncate outbox');

/** As retention does. */
export const removePayload = (db: Db, eventId: string | undefined) =>
  db.query('delete from event_payloads where event_id = $1', [eventId]);

export const removeDestination = (db: Db, id: string | null | undefined) =>
  db.query('delete from destinations where id = $1', [id]);

export const removeRoute = (db: Db, id: string) => db.query('delete from routes where id = $1', [id]);

export const removeOrganization = (db: Db, id: string) => db.query('delete from organizations where id = $1', [id]);

export const setFailover = (db: Db, routeId: string | undefined, destinationId: string | undefined) =>
  db.query('update routes set failover_destination_ids = array[$2] where id = $1', [routeId, destinationId]);

/** Every worker counts as dead. */
export const forgetWorkers = (db: Db) => db.query('delete from workers');

/** Circuits and pauses that a route or a destination has. */
export const circuitRows = async (db: Db, id: string) =>
  (await db.query('select from circuits where route_id = $1', [id])).rows;
