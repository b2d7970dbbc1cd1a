// What several tools take: names or ids, times, pages; and what they answer.
import { z } from 'zod';
import type { Client } from '../../client/index.ts';
import { parseIsoTime } from '../../core/text/timestamps.ts';
import { notFound } from '../errors.ts';
import { findDestination, findRoute, findSource, time } from '../input.ts';

const name = z.string().min(1).max(200);
const when = z
  .string()
  .refine((text) => momentOf(text) !== null, 'must be an ISO 8601 time, or how long ago: 30m, 1h, 7d');

export const inputs = {
  source: name.describe('Slug or id of a source').optional(),
  route: name.describe('Name or id of a route').optional(),
  destination: name.describe('Name or id of a destination').optional(),
  since: when.describe('ISO 8601 time, or how long ago: 30m, 1h, 7d').optional(),
  until: when.describe('The same; by default now').optional(),
  search: name.describe('A part of the name, whatever its case').optional(),
  limit: z.int().min(1).max(50).default(20).describe('How many at most'),
  page: z.int().min(1).default(1).describe('Which page, from 1 on'),
  cursor: z.string().min(1).max(100).describe('nextCursor of the answer before, to continue there').optional(),
  event: z.string().min(1).max(100).describe('Id of an event, evt_...'),
  payloadBytes: z.int().min(1).max(16_384).default(4096).describe('How much of the payload or body to show, in bytes'),
};

/** Records as the API has them. */
export const records = (what: string) => z.array(z.looseObject({})).describe(what);
export const record = (what: string) => z.looseObject({}).describe(what);

interface Places {
  source?: string | undefined;
  route?: string | undefined;
  destination?: string | undefined;
}

/** The filters of the API that name these. @throws CliError when there is none of a name */
export async function placesOf(client: Client, { source, route, destination }: Places) {
  return {
    ...(source !== undefined && { sourceId: (await findSource(client, source)).id }),
    ...(route !== undefined && { routeId: await findRoute(client, route) }),
    ...(destination !== undefined && { destinationId: await findDestination(client, destination) }),
  };
}

export type PlaceIds = Awaited<ReturnType<typeof placesOf>>;

/** The filters of the API that bound a time. */
export function timesOf({ since, until }: { since?: string | undefined; until?: string | undefined }) {
  return {
    ...(since !== undefined && { from: isoTime(since) }),
    ...(until !== undefined && { to: isoTime(until) }),
  };
}

/** A time that was checked. */
export const isoTime = (text: string): string => new Date(momentOf(text) ?? Number.NaN).toISOString();

/** In ms since 1970; null when it is no time. */
const momentOf = (text: string): number | null => parseIsoTime(time(text) ?? text);

/** A transform or a filter by its id, slug or name. @throws CliError when there is none */
export async function findNamed(client: Client, kind: 'transform' | 'filter', wanted: string): Promise<string> {
  if (/^(tfm|flt)_/.test(wanted)) return wanted;
  const list = kind === 'transform' ? 'listTransforms' : 'listFilters';
  const known: string[] = [];
  for await (const { id, slug, name: its } of client.each(list)) {
    if (slug === wanted || its === wanted) return id;
    known.push(slug);
  }
  const those = known.length === 0 ? 'there are none' : `there are ${known.slice(0, 20).join(', ')}`;
  throw notFound(`There is no ${kind} ${wanted}; ${those}`);
}
