// Large bodies whose signatures take long to check, by whatever the owner of the source has described. What is tried
// and where is in test/conformance/described.test.ts.
import { generateKeyPairSync, sign } from 'node:crypto';
import { expect } from 'chai';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import { send } from '../support/requests/http-client.ts';
import { LONGEST_TURN_MS, LOOP_WATCH, longTurns } from '../support/attacks/loop-watch.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { useService } from '../support/use-hookyard.ts';

const BODY = Buffer.alloc(10 * 1024 * 1024, 'a');
const SECRET = 'a secret of many letters';
const NEXT_SECRET = 'the secret that came after it';
const HEADER = { header: 'X-Sig', listSeparator: ' ' };

describe('Large bodies that are signed', () => {
  const service = useService('api', LOOP_WATCH);
  let organization: TestOrganization;
  before(async () => {
    organization = await createOrganization({ service });
  });

  /** A source whose secret is being rotated, so that there are two to check with. */
  async function sourceWith(verificationConfig: object, next: string): Promise<SourceRecord> {
    const source = await makeSource(organization, { verificationConfig: { ...verificationConfig, ...HEADER } });
    const path = `${organization.base}/sources/${source.id}/rotate-secret`;
    await organization.api.post(path, { secret: next, overlapSeconds: 3600 });
    return source;
  }

  async function expectShortTurns({ slug }: SourceRecord, signature: string): Promise<void> {
    const since = service.output().length;
    const headers = { 'x-sig': Array<string>(10).fill(signature).join(' ') };
    const { status } = await send('POST', `${service.url}/ingest/${organization.slug}/${slug}`, headers, BODY);
    // A few turns more, in which a long one is told.
    for (let turns = 0; turns < 3; turns += 1) await send('GET', `${service.url}/healthz`);
    expect(status).to.equal(401);
    expect(Math.max(0, ...longTurns(service, since))).to.be.below(LONGEST_TURN_MS);
  }

  it('take no long turn with a public key', async () => {
    const keys = [0, 1].map(() => generateKeyPairSync('ed25519'));
    const [first = '', next = ''] = keys.map(({ publicKey }) =>
      publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    );
    const source = await sourceWith({ type: 'public_key', algorithm: 'ed25519', secret: first }, next);
    const { privateKey } = generateKeyPairSync('ed25519');
    await expectShortTurns(source, sign(null, BODY, privateKey).toString('base64'));
  });

  it('take no long turn with a shared secret', async () => {
    const source = await sourceWith({ type: 'hmac_template', algorithm: 'sha512', secret: SECRET }, NEXT_SECRET);
    await expectShortTurns(source, '00'.repeat(64));
  });
});
