// Schemathesis makes requests of the API's description (its examples, the edges of every schema, random ones within and
// outside of them, and chains along its links) and compares the answers with it.
import { expect } from 'chai';
import { askedOperations, createConfig, linkedOperations } from '../support/programs/schemathesis/config.ts';
import { INSTALL_MS } from '../support/programs/python.ts';
import { installSchemathesis, runSchemathesis } from '../support/programs/schemathesis.ts';
import { forgetQueued, ingest, makePipeline } from '../support/api-records.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { useService } from '../support/use-hookyard.ts';

/** `npm run schemathesis` also tries the edges of every schema, which takes minutes. */
const IS_THOROUGH = process.env.SCHEMATHESIS === 'thorough';
/** How long it follows chains, in seconds; the other phases are bounded by their number of requests. */
const CHAIN_SECONDS = '20';
const LIMIT_MS = IS_THOROUGH ? 1_200_000 : 300_000;
const SEED = '20261121';
const PHASES = IS_THOROUGH ? 'examples,coverage,fuzzing' : 'examples,fuzzing';
/** Requests for an operation, at least. */
const CASES = IS_THOROUGH ? 10 : 1;

describe('The API under Schemathesis', () => {
  let python: string;
  const api = useService('api', { LOG_LEVEL: 'error' });
  const organizations: TestOrganization[] = [];

  before(async function () {
    this.timeout(INSTALL_MS);
    python = await installSchemathesis();
    // A process of its own: what is generated must not be in the log and the caches of the one that other files share.
  });
  after(async () => {
    for (const organization of organizations) await forgetQueued(organization);
  });

  // One for each test: an Idempotency-Key that was used for one request is refused for another one.
  async function newOrganization(): Promise<TestOrganization> {
    const organization = await createOrganization({ service: api });
    organizations.push(organization);
    return organization;
  }

  /** @returns what it printed */
  async function findsNothing(config: string, args: string[]): Promise<string> {
    const { code, output } = await runSchemathesis(python, { url: api.url, config, args: ['--seed', SEED, ...args] });
    expect(code, `Schemathesis found something:\n${output}\n${api.output()}`).to.equal(0);
    return output;
  }

  /** Nothing is found by who does not look. */
  function expectLooked(output: string, what: RegExp, least: number): void {
    expect(Number(what.exec(output)?.[1]), output).to.be.at.least(least);
  }

  it('answers as its description says along its links: what one request made is what the next is about', async function () {
    this.timeout(LIMIT_MS);
    const output = await findsNothing(createConfig(await newOrganization(), {}), [
      ...['--phases', 'stateful', '--max-time', CHAIN_SECONDS],
      ...including(linkedOperations()),
    ]);
    expectLooked(output, /API Links: +(\d+) covered/, 3);
  });

  it('answers as its description says, whatever it is asked about a record', async function () {
    this.timeout(LIMIT_MS);
    const organization = await newOrganization();
    const config = createConfig(organization, await makeRecords(organization));
    const asked = askedOperations();
    const output = await findsNothing(config, ['--phases', PHASES, ...including(asked)]);
    expectLooked(output, /Operations: +(\d+) selected/, asked.length);
    expectLooked(output, /Test cases:\s+(\d+) generated/, CASES * asked.length);
  });
});

const including = (operationIds: string[]) => operationIds.flatMap((id) => ['--include-operation-id', id]);

/** One record of every kind, so that requests for a record find one. */
async function makeRecords(owner: TestOrganization): Promise<Record<string, string>> {
  const { api, base } = owner;
  const { source, destination, route } = await makePipeline(owner);
  const eventId = await ingest(owner, source, '{"kind":"order.paid","order":{"id":42}}');
  const { data } = await api.list<{ id: string }>(`/api/deliveries?eventId=${eventId}`);
  const config = {
    bucket: 'test-bucket',
    region: 'eu-central-1',
    accessKeyId: 'test',
    secretAccessKey: 'not-a-real-one',
  };
  const conditions = [{ field: 'payload.kind', operator: 'exists' }];
  const ids = {
    src: source.id,
    dst: destination.id,
    dst_wh: (await api.create('/api/destinations', { name: 'Lake', type: 's3', config })).id,
    rte: route.id,
    evt: eventId,
    dlv: data[0]?.id ?? '',
    flt: (await api.create('/api/filters', { name: 'Filter', conditions })).id,
    tfm: (await api.create('/api/transforms', { name: 'Transform', type: 'jsonata', code: 'payload' })).id,
    sch: (await api.create('/api/schemas', { name: 'Schema', schema: { type: 'object' } })).id,
    key: (await api.create('/api/api-keys', { name: 'Key', scopes: ['read'] })).id,
  };
  const replay = await api.post<{ id: string }>(`${base}/events/replay`, { all: true });
  return { ...ids, rpl: replay.id, sourceSlug: source.slug };
}
