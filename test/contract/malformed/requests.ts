// Malformed requests that are HTTP, generated from a seed: wrong bodies, queries, paths, headers and methods.
import fc from 'fast-check';
import { broken, large, text, wrongMember } from './bodies.ts';
import { type Target, targets, writing } from './targets.ts';

export interface Malformed {
  /** What is wrong with it, for messages. */
  what: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** What paths are filled in with. */
export interface Names {
  orgId: string;
  /** Ids of records of another organization, and of nothing. */
  foreignIds: string[];
}

const json = { 'content-type': 'application/json' };

const BAD_IDS = [
  '%',
  '%zz',
  '%E0%A4%A',
  '%00',
  '%FF%FE',
  '..',
  '%2e%2e%2f',
  '%F0%9F%92%A9',
  "'or'1'='1",
  'null',
  '-1',
  '~',
  'dst_',
  '*',
];

const filled = (path: string, names: Names, id: string, orgId = names.orgId): string =>
  path.replace(':orgId', orgId).replace(/:\w+/g, id);
const anyId = (names: Names) => fc.constantFrom(...names.foreignIds, ...BAD_IDS, `dst_${'z'.repeat(3000)}`);

const bodies = (names: Names): fc.Arbitrary<Malformed> =>
  fc.constantFrom(...writing).chain((target) =>
    fc
      .tuple(
        anyId(names),
        fc.oneof(
          { arbitrary: wrongMember(target.body), weight: 10 },
          { arbitrary: broken, weight: 8 },
          { arbitrary: large, weight: 1 },
        ),
      )
      .map(([id, { what, body, headers }]) => ({
        what,
        method: target.method,
        path: filled(target.path, names, id),
        headers: { ...json, ...headers },
        body,
      })),
  );

/** Right requests about records that are another organization's, or nobody's. */
const strangers = (names: Names): fc.Arbitrary<Malformed> =>
  fc
    .constantFrom(...targets.filter(({ path }) => path.includes(':id')))
    .chain((target) =>
      anyId(names).map((id) => request(`id ${id.slice(0, 20)}`, target, filled(target.path, names, id))),
    );

const otherOrganizations = (names: Names): fc.Arbitrary<Malformed> =>
  fc
    .constantFrom(...targets.filter(({ path }) => path.includes(':orgId')))
    .chain((target) =>
      fc
        .constantFrom('org_other', 'x', '%00', '..', '%', `org_${'0'.repeat(26)}`)
        .map((org) =>
          request(`organization ${org}`, target, filled(target.path, names, names.foreignIds[0] ?? 'x', org)),
        ),
    );

function request(what: string, { method, body }: Target, path: string): Malformed {
  return { what, method, path, headers: body ? json : {}, body: body && text(body) };
}

const LISTS = [
  '/api/destinations',
  '/api/routes',
  '/api/deliveries',
  '/api/issues',
  '/api/filters',
  '/api/schemas',
  '/api/transforms',
  '/api/api-keys',
  '/api/alert-channels',
];
const BAD_NUMBERS = [
  '0',
  '-1',
  '1.5',
  'x',
  '',
  '1e3',
  '9'.repeat(40),
  '%00',
  '%',
  'NaN',
  '0x10',
  '1&page=2&pageSize=2',
];
const queries = (names: Names): fc.Arbitrary<Malformed> =>
  fc
    .tuple(
      fc.constantFrom(
        ...LISTS,
        ...['events', 'sources', 'destinations', 'events/replays'].map(
          (list) => `/api/organizations/${names.orgId}/${list}`,
        ),
      ),
      fc.constantFrom('page', 'pageSize'),
      fc.constantFrom(...BAD_NUMBERS),
    )
    .map(([path, member, value]) => ({
      what: 'query',
      method: 'GET',
      path: `${path}?${member}=${value}`,
      headers: {},
      body: null,
    }));

const methods = (names: Names): fc.Arbitrary<Malformed> =>
  fc
    .tuple(
      fc.constantFrom(...targets),
      fc.constantFrom('PUT', 'TRACE', 'PROPFIND', 'LOCK', 'M-SEARCH', 'QUERY', 'UNLINK'),
    )
    .map(([target, method]) => ({
      what: 'method',
      method,
      path: filled(target.path, names, names.foreignIds[0] ?? 'x'),
      headers: {},
      body: null,
    }));

const paths: fc.Arbitrary<Malformed> = fc
  .oneof(
    fc.constantFrom(
      '/',
      '//',
      '/api',
      '/api//',
      '/api/../etc/passwd',
      '/%',
      '/%00',
      '/api/%2e%2e/',
      '/ingest',
      '/ingest/',
      '/ingest/a',
      '/ingest/a/b/c',
    ),
    fc.webPath().map((path) => `/api/none${path}`),
  )
  .map((path) => ({ what: 'path', method: 'GET', path, headers: {}, body: null }));

const ingest: fc.Arbitrary<Malformed> = fc
  .tuple(
    fc.constantFrom('GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST', 'PUT'),
    fc.constantFrom(
      '/ingest/none/none',
      '/ingest/%00/%00',
      '/ingest/%/%',
      '/ingest/__proto__/constructor',
      `/ingest/${'a'.repeat(5000)}/b`,
    ),
    fc.uint8Array({ maxLength: 200 }),
  )
  .map(([method, path, bytes]) => ({
    what: 'ingest',
    method,
    path,
    headers: { 'content-type': 'application/json' },
    body: method === 'POST' || method === 'PUT' ? Buffer.from(bytes) : null,
  }));

/** So many malformed requests, the same ones for the same seed. */
export function malformedRequests(names: Names, options: { seed: number; count: number }): Malformed[] {
  const any = fc.oneof(
    { arbitrary: bodies(names), weight: 50 },
    { arbitrary: strangers(names), weight: 12 },
    { arbitrary: otherOrganizations(names), weight: 5 },
    { arbitrary: queries(names), weight: 8 },
    { arbitrary: methods(names), weight: 6 },
    { arbitrary: paths, weight: 5 },
    { arbitrary: ingest, weight: 5 },
  );
  return fc.sample(any, { seed: options.seed, numRuns: options.count });
}
