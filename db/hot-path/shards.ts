// Which worker claims which shards of the outbox. A worker raises the beat in its row of `workers` about once a second.
// Its share is all shards divided by the workers. What it has too much of it gives up, and it takes what is free.
//
// Nobody compares clocks. A worker takes another one for dead when it has seen the same beat for DEAD_MS of its own
// monotonic clock, and its own beats were answered all the time. It deletes the row with that beat, which frees the
// shards. If the other one lives after all, it finds its row gone, and registers again with no shards; its claims find
// none before that, because a claim looks at the owner (claim.ts).
import type { Lane } from '../../core/delivery/delivery.ts';
import type { Queryable } from '../connections/pool.ts';
import { WAKE_WORKERS } from '../sql/rules.ts';
import { raw, sql } from '../connections/statements.ts';

/** Number of shards; `shardOf` of core/text/ids.ts gives each delivery one of them. */
export const SHARDS = 64;
/** A worker whose beat stands still for this long is dead, ms. */
export const DEAD_MS = 2000;

const BEAT = `
with me as (
  update workers set beat = beat + 1, seen_at = now(), is_leaving = $2, lane = $3, version = $4, handed_over = $5
    where name = $1
  returning name
), other as (
  select count(*) as workers, count(*) filter (where not is_leaving) as sharing,
         count(*) filter (where not is_leaving and name < $1) as before,
         coalesce(json_object_agg(name, beat::text), '{}') as beats
  from workers where name <> $1
)
select array(select shard from shards where owner = $1 order by shard) as shards,
       (case when $2 then 0 else ${SHARDS} / (sharing + 1) + (before < ${SHARDS} % (sharing + 1))::int end)::int as share,
       (workers + 1)::int as workers, beats
from me, other`;

export interface Beat {
  /** What it owns, in order. */
  shards: number[];
  share: number;
  workers: number;
  beats: Record<string, string>;
}

export interface Worker {
  name: string;
  /** Whether it ends, and wants no shards any more. */
  isLeaving: boolean;
  /** For operators: the lane of deliveries whose route names none, and its version. */
  lane: Lane;
  version: string;
  /** What it still has in flight in shards that it gave up. */
  handedOver: string[];
}

/** Shows that a worker lives. @returns null when its row is gone: it has no shards and must register again */
export async function beat(db: Queryable, worker: Worker): Promise<Beat | null> {
  const { rows } = await db.query<Beat>({
    name: 'beat',
    text: BEAT,
    values: [worker.name, worker.isLeaving, worker.lane, worker.version, worker.handedOver],
  });
  return rows[0] ?? null;
}

/** Registers a worker, with no shards; may be repeated. The others make room for it. */
export async function registerWorker(db: Queryable, name: string): Promise<void> {
  await sql(db).run`
    with me as (insert into workers (name) values (${name}) on conflict do nothing returning name)
    select ${raw(WAKE_WORKERS)} from me`;
}

/** Removes dead workers, by name with the beat that stood still; their shards are free. @returns how many */
export async function removeDead(db: Queryable, dead: Map<string, string>): Promise<number> {
  return sql(db).run`
    with gone as (
      delete from workers w using unnest(${[...dead.keys()]}::text[], ${[...dead.values()]}::bigint[]) as dead(name, beat)
      where w.name = dead.name and w.beat = dead.beat returning w.name
    )
    select ${raw(WAKE_WORKERS)} from gone`;
}

/** Takes free shards. @param most how many @returns those that it took */
export async function takeShards(db: Queryable, name: string, most: number): Promise<number[]> {
  return sql(db).column<number>`
    with free as materialized (
      select shard from shards where owner is null order by shard limit ${most} for update skip locked
    )
    update shards s set owner = ${name} from free where s.shard = free.shard returning s.shard`;
}

/** Gives shards up. @param inFlight all that it has in flight in shards that are not its own any more */
export async function giveUp(
  db: Queryable,
  name: string,
  shards: readonly number[],
  inFlight: string[],
): Promise<void> {
  await sql(db).run`
    with me as (
      update workers set handed_over = ${inFlight} where name = ${name} returning name
    ), given as (
      update shards set owner = null where shard = any(${shards}::smallint[]) and owner in (select name from me)
        returning shard
    )
    select ${raw(WAKE_WORKERS)} from given limit 1`;
}

export async function endWorker(db: Queryable, name: string): Promise<void> {
  await sql(db).run`
    with me as (delete from workers where name = ${name} returning name) select ${raw(WAKE_WORKERS)} from me`;
}

/**
 * How many workers there are, at least 1. Those that end count, as they may have attempts under way, and dead ones for
 * some seconds.
 * @param name of this worker, which counts before it is registered
 */
export async function liveWorkers(db: Queryable, name: string): Promise<number> {
  return sql(db).value<number>`select (count(*) filter (where name <> ${name}) + 1)::int from workers`;
}

/** Whether a worker was seen lately, for operators: when all have died, nobody removes their rows. */
export const SEEN = `seen_at > now() - interval '10 seconds'`;

export async function countLanes(db: Queryable): Promise<Record<Lane, number>> {
  return sql(db).only<Record<Lane, number>>`
    select count(*) filter (where lane = 'workflow')::int as workflow,
           count(*) filter (where lane = 'express')::int as express
    from workers where ${raw(SEEN)}`;
}
