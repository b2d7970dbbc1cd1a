// What tools take: the members of the operations of the API, with names instead of ids, and times as people say them.
import { z } from 'zod';
import type { Client } from '../../client/index.ts';
import { momentOf } from '../input.ts';
import { type Member, OPERATIONS, type OperationName } from '../operations.ts';
import { findId, type RecordKind } from '../records.ts';

const name = z.string().min(1).max(200);
const when = z
  .string()
  .refine((text) => momentOf(text) !== null, 'must be an ISO 8601 time, or how long ago (for example 30m, 1h or 7d)');

export const inputs = {
  source: name.describe('Source slug or ID').optional(),
  route: name.describe('Route name or ID').optional(),
  destination: name.describe('Destination name or ID').optional(),
  since: when.describe('An ISO 8601 time, or how long ago (for example 30m, 1h or 7d)').optional(),
  until: when.describe('An ISO 8601 time, or how long ago (for example 30m, 1h or 7d); default: now').optional(),
  limit: z.int().min(1).max(50).default(20).describe('Maximum number of items'),
  page: z.int().min(1).default(1).describe('Page number, starting at 1'),
  cursor: z.string().min(1).max(100).describe("The previous page's nextCursor").optional(),
  event: z.string().min(1).max(100).describe('Event ID (evt_...)'),
  payloadBytes: z.int().min(1).max(16_384).default(4096).describe('Maximum bytes of the payload or body to show'),
};

type Read = (client: Client, text: string) => string | Promise<string>;
const idOf =
  (kind: RecordKind): Read =>
  (client, wanted) =>
    findId(client, kind, wanted);
export const isoTime = (text: string): string => new Date(momentOf(text) ?? Number.NaN).toISOString();

/** By the members of the API that tools call otherwise: the input, and how it is read. */
const OWN: Record<string, { input: keyof typeof inputs; read: Read }> = {
  sourceId: { input: 'source', read: idOf('source') },
  routeId: { input: 'route', read: idOf('route') },
  destinationId: { input: 'destination', read: idOf('destination') },
  eventId: { input: 'event', read: (_client, id) => id },
  from: { input: 'since', read: (_client, text) => isoTime(text) },
  to: { input: 'until', read: (_client, text) => isoTime(text) },
};
const PAGING = ['page', 'pageSize', 'cursor', 'withTotal', 'limit', 'dryRun'];

/** What a tool takes for an operation, each of it optional. @param leftOut members of the API */
export function inputsOf(operation: OperationName, leftOut: readonly string[] = []): Record<string, z.ZodType> {
  const { query, body } = OPERATIONS[operation];
  const members = [...query, ...body].filter((member) => ![...PAGING, ...leftOut].includes(member.name));
  return Object.fromEntries(
    members.map((member) => {
      const own = OWN[member.name];
      return own ? [own.input, z.optional(inputs[own.input])] : [member.name, schemaOf(member).optional()];
    }),
  );
}

function schemaOf({ kind, values, about }: Member): z.ZodType {
  const text = values === undefined ? name : z.enum(values);
  const schemas = {
    text,
    integer: z.int(),
    number: z.number(),
    boolean: z.boolean(),
    list: z.array(text).min(1),
    json: z.unknown(),
  };
  return about === '' ? schemas[kind] : schemas[kind].describe(about);
}

/** The members of the API for what a tool was given. @throws CliError when there is no record of a name */
export async function membersOf(client: Client, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const members: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined) continue;
    const [member, own] = Object.entries(OWN).find(([, { input }]) => input === name) ?? [name];
    members[member] = own ? await own.read(client, String(value)) : value;
  }
  return members;
}
