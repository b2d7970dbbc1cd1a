// Hostile input at sources of every provider of the registry, in their handshakes, and at paths below a source: as in
// fuzz.test.ts.
import { expect } from 'chai';
import fc from 'fast-check';
import { providerNamed, providers } from '../../providers/index.ts';
import { makePipeline, makeSource, type SourceRecord } from '../support/api-records.ts';
import { exchanged, expectAlive, seed, tryFor, wireRequest } from '../support/attacks/fuzzing.ts';
import { body, handshake, headers, path, query } from '../support/attacks/hostile-input.ts';
import { LOOP_WATCH } from '../support/attacks/loop-watch.ts';
import { signers } from '../support/providers/provider-signers.ts';
import { publishedSigners } from '../support/providers/published-signers.ts';
import type { SentMessage, Signer } from '../support/providers/signer.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { useService } from '../support/use-hookyard.ts';

const BODIES_MS = 4000;
const HANDSHAKES_MS = 3000;
const PATHS_MS = 1500;
const NAMES = providers.map(({ name }) => name);

interface Provided extends SourceRecord {
  /** Undefined: its keys have to be fetched, from nobody here. */
  signing: { signer: Signer; key: Parameters<Signer['sign']>[1] } | undefined;
}

describe('Hostile input at sources of providers', () => {
  const service = useService('api', { ...LOOP_WATCH, HOOKYARD_PROVIDER_KEYS_URL: 'http://127.0.0.1:9' });
  let organization: TestOrganization;
  let isAlive: ReturnType<typeof expectAlive>;
  const sources = new Map<string, Provided>();

  before(async () => {
    process.stdout.write(`    FUZZ_SEED=${seed}\n`);
    // Nobody is there, so that no provider is asked for its keys.
    organization = await createOrganization({ service });
    for (const name of NAMES) sources.set(name, await provided(name));
    isAlive = expectAlive(service);
  });

  async function provided(name: string): Promise<Provided> {
    const signer = signers[name];
    const { secret, key } = signer?.secret() ?? { secret: publishedSigners[name]?.secret() ?? '', key: '' };
    const verifyToken =
      providerNamed(name)?.verifyToken === undefined ? {} : { verifyToken: 'a verify token of sixteen' };
    const source = await makeSource(organization, {
      provider: name,
      verificationConfig: { secret, ...verifyToken },
    });
    return { ...source, signing: signer && { signer, key } };
  }

  const sourceOf = (name: string) => sources.get(name) ?? expect.fail(`no source of ${name}`);
  const expectAnswer = async (bytes: Buffer, what: string) => {
    // Longer ones would be cut by the time for which an answer is awaited.
    expect(await exchanged(service, bytes), what).to.not.match(/^HTTP\/1\.1 500/m);
    await isAlive(what);
  };

  it('has a source of each provider, of which no two are alike', () => {
    expect(new Set(Array.from(sources.values(), ({ slug }) => slug)).size)
      .to.equal(NAMES.length)
      .and.be.above(50);
  });

  it('in webhooks, signed as the provider does or not at all', async () => {
    await tryFor(
      BODIES_MS,
      fc.asyncProperty(
        fc.constantFrom(...NAMES),
        body,
        query,
        headers,
        fc.boolean(),
        async (name, make, text, sent, isSigned) => {
          const { slug, signing: its } = sourceOf(name);
          const target = `/ingest/${organization.slug}/${slug}`;
          const raw = make();
          const url = `${service.url}${target}`;
          const { key = '', signer } = its ?? {};
          const unsigned: SentMessage = { headers: {}, query: text };
          const message = { body: raw, nowMs: Date.now(), url };
          // Some sign members of the body, and so nothing that has none.
          const signing = async () => signer?.sign(message, key);
          const signed = (isSigned ? await signing().catch(() => undefined) : undefined) ?? unsigned;
          const bytes = signed.body ?? raw;
          const all = { 'content-type': 'application/json', ...sent, ...signed.headers };
          const what = `${name}, ${bytes.length} bytes beginning with ${bytes.subarray(0, 60).toString('latin1')}`;
          await expectAnswer(wireRequest('POST', `${target}?${signed.query ?? ''}`, all, bytes), what);
        },
      ),
    );
  });

  it('in handshakes', async () => {
    await tryFor(
      HANDSHAKES_MS,
      fc.asyncProperty(fc.constantFrom(...NAMES), handshake, async (name, asked) => {
        const target = `/ingest/${organization.slug}/${sourceOf(name).slug}?${asked.query}`;
        const bytes = wireRequest(asked.method, target, asked.headers, asked.body);
        await expectAnswer(bytes, `${name}: ${bytes.subarray(0, 500).toString('latin1')}`);
      }),
    );
  });

  it('in paths below a source that takes them', async () => {
    const { source } = await makePipeline(organization);
    await organization.api.patch(`${organization.base}/sources/${source.id}`, { allowPaths: true });
    await tryFor(
      PATHS_MS,
      fc.asyncProperty(path, query, async (below, text) => {
        const target = `/ingest/${organization.slug}/${source.slug}${below}?${text}`;
        await expectAnswer(wireRequest('POST', target, {}, Buffer.from('{}')), target.slice(0, 300));
      }),
    );
  });
});
