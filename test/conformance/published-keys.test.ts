// What every provider must do that publishes its keys: genuine webhooks are taken, and nothing else, with keys and
// certificates that are made here and fetched from a real server in the place of the providers.
import { expect } from 'chai';
import { isSigned, secretProblem } from '../../core/verification/index.ts';
import { signAs } from '../../core/verification/index.ts';
import { type Provider, providerNamed } from '../../providers/index.ts';
import { sampleOf } from '../../providers/sample.ts';
import { otherSecret, publishedSigners, type SigningKey } from '../support/providers/published-signers.ts';
import {
  ADDRESS,
  type Arriving,
  expectAway,
  expectRefused,
  useKeyWorld,
  verifiedAs,
} from '../support/providers/verified.ts';

const NOW = Date.parse('2026-03-01T12:00:00.250Z');
const ASKER = { organizationId: 'org_1', sourceId: 'src_1' };
const NO_DOCUMENTS = [
  ...['', 'null', '[]', '{"keys":[]}', '{"keys":1}', '{"key":{"kid":1}}'],
  ...['-----BEGIN CERTIFICATE-----', 'x'.repeat(300_000)],
];

for (const [name, signer] of Object.entries(publishedSigners)) {
  describe(`webhooks of ${name}`, () => {
    const provider = providerNamed(name) as Provider;
    const { verification } = provider;
    const secret = signer.secret();
    const sample = sampleOf(provider, undefined, new Date(NOW))?.body as Buffer;
    const [published, unpublished] = [signer.key(), signer.key()];
    const world = useKeyWorld();
    beforeEach(() => signer.publish(world.server, published));

    const signed = (key: SigningKey = published): Arriving => ({
      ...signer.sign({ body: sample, nowMs: NOW, url: ADDRESS, secret }, key),
      nowMs: NOW,
    });
    const verified = (sent: Arriving, withSecret: string = secret) =>
      verifiedAs(name, withSecret, sent, world.keys.of(ASKER));
    const expectTaken = async (sent: Arriving) => expect(await verified(sent)).to.include({ valid: true });

    it('are taken when they are genuine, and the key is fetched once', async () => {
      expect(secretProblem(verification, secret)).to.equal(null);
      const outcome = await verified(signed());
      expect(outcome).to.include({ valid: true });
      expect(outcome.valid && outcome.mac !== null).to.equal(isSigned(verification));
      await expectTaken(signed());
      expect(world.server.asked).to.have.length(1);
    });

    it('are refused that were signed for another source, or with another key than the published', async () => {
      await expectRefused(verified(signed(), otherSecret(name)), 'another secret');
      await expectRefused(verified(signed({ ...unpublished, id: published.id })), 'another key');
    });

    const { changed } = signer;
    if (changed) {
      it('are refused with anything changed that is signed', async () => {
        const sent = signed();
        for (const [at, body] of changed(sent.body).entries())
          await expectRefused(verified({ ...sent, body }), `change ${at}`);
        expect(world.server.asked.length, 'questions').to.be.at.most(1);
      });
    }

    if (!changed) {
      it('are taken with another body, because the token does not cover it', async () => {
        const sent = signed();
        await expectTaken({ ...sent, body: Buffer.concat([sent.body, Buffer.from(' ')]) });
      });
    }

    it('are refused when a header of the signature comes twice, is missing or empty, and nothing is asked', async () => {
      const sent = signed();
      for (const header of signer.headers) {
        const { [header]: value, ...others } = sent.headers;
        for (const headers of [{ ...others, [header]: `${value}, ${value}` }, others, { ...others, [header]: '' }])
          await expectRefused(verified({ ...sent, headers }), `${header}: ${headers[header]}`);
      }
      expect(world.server.asked).to.deep.equal([]);
    });

    it(`are refused more than ${signer.seconds} seconds before or after they were signed`, async () => {
      for (const sign of [1, -1]) {
        const at = (seconds: number) => ({ ...signed(), nowMs: NOW + sign * seconds * 1000 });
        await expectTaken(at(signer.seconds - 1));
        expect(await expectRefused(verified(at(signer.seconds + 1)), 'late')).to.match(/more than \d+ seconds/);
      }
    });

    it('are refused with the id of a key that there is none of, and taken once it is published', async () => {
      await expectTaken(signed());
      const rotated = signer.key();
      await expectRefused(verified(signed(rotated)), 'not published');
      const asked = world.server.asked.length;
      await expectRefused(verified(signed(rotated)), 'not published');
      expect(world.server.asked, 'what was missing is not asked for again at once').to.have.length(asked);
      signer.publish(world.server, rotated);
      world.clock += 61_000;
      await expectTaken(signed(rotated));
      await expectTaken(signed());
    });

    it('are neither taken nor refused while the key cannot be fetched, and then taken', async () => {
      world.server.state = 'failing';
      expect(await expectAway(verified(signed()))).to.match(/could not be fetched from .*: HTTP 500 response$/);
      const asked = world.server.asked.length;
      await expectAway(verified(signed()));
      expect(world.server.asked, 'who is away is not asked again at once').to.have.length(asked);
      world.server.state = 'up';
      world.clock += 5001;
      await expectTaken(signed());
    });

    it('are taken by a key that is known while its provider is away, for a day', async () => {
      await expectTaken(signed());
      world.server.state = 'failing';
      world.clock += 23 * 3_600_000;
      await expectTaken(signed());
      world.clock += 3_600_001;
      await expectAway(verified(signed()));
    });

    it('are neither taken nor refused when there is something else at the address of the keys', async () => {
      const { documents, url } = world.server;
      const elsewhere = { status: 302, headers: { location: `${url}/elsewhere` }, body: '' };
      for (const answer of [...NO_DOCUMENTS.map((body) => ({ body })), elsewhere]) {
        for (const address of documents.keys()) documents.set(address, () => answer);
        world.clock += 61_000;
        await expectAway(verified(signed()));
      }
      expect(world.server.asked.map(({ address }) => address)).not.to.include('elsewhere');
    });

    it('are signed by nobody else', () => {
      const unsigned = { url: ADDRESS, body: sample, contentType: 'application/json', nowMs: NOW, id: 'msg_1' };
      expect(signAs(verification, secret, unsigned)).to.equal(null);
    });
  });
}
