// Secrets stay where they belong. After a full run (test/support/attacks/secret-run.ts) everything that it left is
// searched, each secret in every form it could have: the logs of all processes at their most talkative, what Temporal
// knows, what the API and the command line said, mails, and every row of the database.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PAYLOAD, RECIPIENT, SECRETS, SHOWN } from '../support/attacks/secret-markers.ts';
import { SecretRun } from '../support/attacks/secret-run.ts';
import { leaks, type Place, type Secrets, temporalPlaces, withDecoded } from '../support/attacks/secret-search.ts';
import { until } from '../support/until.ts';
import { wholeDatabase } from '../support/organizations/whole-database.ts';

// The only columns in which contents of webhooks may be: the payload, and what a tenant's own transform or store said.
const CONTENT = [
  'event_payloads.body',
  'refused_webhooks.payload_start',
  'deliveries.error',
  'attempts.error',
  'warehouse_batches.error',
  'messages.content',
  'messages.facts',
];
// What a client put into a place that is shown: headers by the name of a secret, the query of an address, now or
// earlier.
const SHOWN_COLUMNS = ['destinations.headers', 'destinations.url', 'earlier_versions.config'];

describe('secrets', () => {
  const run = new SecretRun();
  let all: Secrets;
  before(() => {
    const database = new URL(run.testInstance.databaseUrl).password;
    all = { ...SECRETS, database, ...Object.fromEntries(run.createdTokens.map((token, n) => [`created ${n}`, token])) };
  });

  /** @param known something that is no secret and must be found, so that finding nothing means something */
  function expectClean(places: Place[], known: string, secrets: Secrets): void {
    expect(leaks(places, { known }), 'what is known to be there').to.not.be.empty;
    expect(leaks(places, secrets)).to.deep.equal([]);
  }
  const withContent = () => ({ ...all, ...SHOWN, payload: PAYLOAD, recipient: RECIPIENT });

  it('are in no log of API and workers, nor is anything of a payload', () => {
    const logs = run.testInstance.logs().split('\n');
    const places = logs.map((text) => ({ name: text.slice(0, 300), text }));
    expectClean(places, run.testInstance.organizationId, withContent());
    expect(run.testInstance.logs(), 'they are at their most talkative').to.include('LOG_LEVEL=trace');
  });

  it('cannot hide in the logs: every line of them is JSON', () => {
    const isJson = (line: string) => {
      try {
        return typeof JSON.parse(line) === 'object';
      } catch {
        return false;
      }
    };
    const lines = run.testInstance
      .logs()
      .split('\n')
      .filter((line) => line !== '');
    expect(lines.filter((line) => !isJson(line))).to.deep.equal([]);
  });

  it('are in no log of PostgreSQL and Temporal', () => {
    const folder = join(process.env.HOOKYARD_DATA_DIR ?? '', '..', 'logs');
    const places = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
    expect(places.map(({ name }) => name)).to.include.members(['postgres.log', 'temporal.log']);
    expect(leaks(places, withContent())).to.deep.equal([]);
  });

  it('are not in what Temporal knows of any workflow, nor is anything of a payload', async () => {
    const places = await until('every workflow to be listed', async () => {
      const found = await temporalPlaces(run.testInstance.temporal);
      const types = new Set(found.map(({ name }) => name.split(' ')[1]));
      return (
        ['delivery', 'message', 'warehouseFlush', 'circuit', 'maintenance', 'replay'].every((type) =>
          types.has(type),
        ) && found
      );
    });
    expect(places.length).to.be.greaterThan(15);
    expectClean(places, run.testInstance.organizationId, withContent());
  });

  it('are not in what the API answered, but for what it is to show once', () => {
    const shown = ({ method, url }: { method: string; url: string }) =>
      method === 'POST' && /\/api\/(?:api-keys|auth\/sign-in)$/.test(url);
    const places = run.answers
      .filter((answer) => !shown(answer))
      .map(({ method, url, text }) => ({ name: `${method} ${url}`, text }));
    expect(places.length).to.be.greaterThan(100);
    expectClean(places, run.testInstance.organizationId, all);
    const refusals = places.filter(({ text }) => text.includes('"error":"Bad Request"'));
    expect(refusals.length, 'refusals that had a secret to quote').to.be.greaterThan(15);
    const tokens = run.answers.filter(shown).map(({ url, text }) => ({ name: url, text }));
    expect(leaks(tokens, all), 'the new keys, and nothing else').to.have.length(5);
  });

  it('are not in what the command line prints', () => {
    const places = run.printed.map((text, n) => ({ name: `command ${n}`, text }));
    expectClean(places, run.destinationIds[0] ?? '', all);
  });

  it('are in no row of the database', async () => {
    const rows = await wholeDatabase(run.testInstance.pool);
    const places = rows.flatMap(({ table, columns }) =>
      Object.entries(columns).map(([column, text]) => ({ name: `${table}.${column}`, text: withDecoded(text ?? '') })),
    );
    expectClean(places, run.testInstance.organizationId, all);
    const found = new Set(leaks(places, { ...SHOWN, payload: PAYLOAD }).map((leak) => leak.split(':')[0]));
    expect([...found].filter((name) => ![...CONTENT, ...SHOWN_COLUMNS].includes(name ?? ''))).to.deep.equal([]);
    expect([...found]).to.include.members([
      'event_payloads.body',
      'deliveries.error',
      'warehouse_batches.error',
      ...SHOWN_COLUMNS,
    ]);
  });

  it('would be found in whatever form they were written', () => {
    const secret = SECRETS.password;
    const spoilt = [
      `password=${secret}`,
      ...['', 'a', 'ab'].map((before) => `Basic ${Buffer.from(`${before}${secret}`).toString('base64')}`),
      `"${Buffer.from(`a${secret}b`).toString('base64url')}"`,
      Buffer.from(secret).toString('hex').toUpperCase(),
      encodeURIComponent(`${secret}/+`),
      withDecoded(`"${Buffer.from(JSON.stringify({ secret })).toString('base64')}"`),
    ];
    for (const text of spoilt) {
      expect(leaks([{ name: 'here', text }], { secret }), text).to.deep.equal(['here: secret']);
    }
    expect(leaks([{ name: 'here', text: SECRETS.bearer }], { secret })).to.deep.equal([]);
  });
});
