// What every provider of the registry must do: genuine webhooks are taken, and nothing else. The signer beside each is written from
// the provider's documentation, or is its own library (test/support/providers/library-signers.ts).
import { expect } from 'chai';
import fc from 'fast-check';
import type { Verification } from '../../core/verification/scheme.ts';
import { isSigned, secretProblem, signAs, verify } from '../../core/verification/index.ts';
import { NO_KEYS } from '../../core/verification/published-keys.ts';
import { type Provider, providerNamed, providers } from '../../providers/index.ts';
import { sampleOf } from '../../providers/sample.ts';
import { signers } from '../support/providers/provider-signers.ts';
import { rawRequest } from '../support/raw-request.ts';
import { publishedSigners } from '../support/providers/published-signers.ts';
import type { SentMessage } from '../support/providers/signer.ts';

const NOW = Date.parse('2026-03-01T12:00:00.250Z');
const ADDRESS = 'https://hooks.example.com/ingest/acme/shop';
const SIGNED_NAMES = /signature|hmac|mac$|token$|authorization|-id$|timestamp$|x-trello-webhook$/;

type Change = Partial<{ headers: Record<string, string>; body: Buffer; query: string; nowMs: number; address: string }>;

async function verified(provider: Provider, secret: string, sent: SentMessage & { body: Buffer }, change: Change = {}) {
  const { headers, body, query = '', nowMs, address } = { ...sent, nowMs: NOW, address: ADDRESS, ...change };
  const request = rawRequest({ headers, body, nowMs, query, address });
  return verify(provider.verification, { secret }, request, NO_KEYS);
}

it('every provider of the registry has a signer', () => {
  // Those with published keys: published-keys.test.ts.
  const names = [...Object.keys(signers), ...Object.keys(publishedSigners)];
  expect(names.toSorted()).to.deep.equal(providers.map(({ name }) => name).toSorted());
  expect(providers.map(({ name }) => name)).to.deep.equal(providers.map(({ name }) => name).toSorted());
});

for (const [name, signer] of Object.entries(signers)) {
  describe(`webhooks of ${name}`, () => {
    const provider = providerNamed(name) as Provider;
    const { secret, key } = signer.secret();
    const body = signer.body
      ? Buffer.from(signer.body)
      : (sampleOf(provider, undefined, new Date(NOW))?.body as Buffer);
    const message = (nowMs = NOW) => ({ body, nowMs, url: ADDRESS });
    const genuine = async (nowMs?: number, withKey = key): Promise<SentMessage & { body: Buffer }> => {
      const sent = await signer.sign(message(nowMs), withKey);
      return { ...sent, body: sent.body ?? body };
    };
    const expectRefused = (outcome: Verification, what: string) =>
      expect(outcome.valid ? 'accepted' : outcome.reason, what)
        .to.match(/\w/)
        .and.not.equal('accepted');

    it('are taken when they are genuine, with a secret of the form that is asked for', async () => {
      expect(secretProblem(provider.verification, secret)).to.equal(null);
      const outcome = await verified(provider, secret, await genuine());
      expect(outcome).to.deep.include({ valid: true });
      expect(outcome.valid && outcome.mac !== null).to.equal(isSigned(provider.verification));
    });

    it('are refused with the secret of another source', async () => {
      const other = signer.secret();
      expectRefused(await verified(provider, other.secret, await genuine()), 'our secret is another');
      expectRefused(await verified(provider, secret, await genuine(NOW, other.key)), 'the sender has another');
    });

    const { covers } = signer;
    if (typeof covers === 'object') {
      it(`are refused with any change of what is signed: ${covers.part}; the rest is not covered`, async () => {
        const sent = await genuine();
        for (const [at, changed] of covers.changed(sent.body).entries())
          expectRefused(await verified(provider, secret, sent, { body: changed }), `change ${at}`);
        const rest = await verified(provider, secret, sent, { body: covers.unchanged(sent.body) });
        expect(rest, 'what the signature does not cover').to.deep.include({ valid: true });
      });
    } else if (covers === 'nothing') {
      it('are taken with another body, because what they are known by does not cover it', async () => {
        const sent = await genuine();
        const body = Buffer.concat([sent.body, Buffer.from(' ')]);
        expect(await verified(provider, secret, sent, { body })).to.deep.include({ valid: true });
      });
    } else {
      it('are refused with any byte changed, one more or one less', async () => {
        const sent = await genuine();
        for (let at = 0; at < sent.body.length; at += 1) {
          const changed = Buffer.from(sent.body);
          changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
          expectRefused(await verified(provider, secret, sent, { body: changed }), `byte ${at}`);
        }
        for (const other of [Buffer.concat([sent.body, Buffer.from('x')]), sent.body.subarray(1), Buffer.alloc(0)])
          expectRefused(await verified(provider, secret, sent, { body: other }), 'another length');
      });
    }

    if (covers === 'headers') {
      it('are refused with another value of a signed header', async () => {
        const sent = await genuine();
        for (const [header, value] of Object.entries(sent.headers))
          expectRefused(
            await verified(provider, secret, sent, { headers: { ...sent.headers, [header]: `${value}x` } }),
            header,
          );
      });
    }

    if (covers === 'address') {
      it('are refused at another address', async () => {
        expectRefused(await verified(provider, secret, await genuine(), { address: `${ADDRESS}2` }), 'another path');
        expectRefused(await verified(provider, secret, await genuine(), { query: 'more=1' }), 'another query');
      });
    }

    it('are refused when a header of the signature comes twice, is missing or empty', async () => {
      const sent = await genuine();
      for (const [header, value] of Object.entries(sent.headers).filter(([its]) => SIGNED_NAMES.test(its))) {
        const { [header]: _left, ...others } = sent.headers;
        expectRefused(
          await verified(provider, secret, sent, { headers: { ...others, [header]: `${value}, ${value}` } }),
          header,
        );
        expectRefused(await verified(provider, secret, sent, { headers: others }), `without ${header}`);
        expectRefused(
          await verified(provider, secret, sent, { headers: { ...others, [header]: '' } }),
          `empty ${header}`,
        );
      }
      if (sent.query !== undefined) {
        expectRefused(
          await verified(provider, secret, sent, { query: `${sent.query}&${sent.query}` }),
          'parameter twice',
        );
        expectRefused(await verified(provider, secret, sent, { query: '' }), 'without parameter');
      }
    });

    const { seconds } = signer;
    if (seconds === undefined) {
      it('are taken at any time, because none is signed', async () => {
        const later = await verified(provider, secret, await genuine(), { nowMs: NOW + 365 * 86_400_000 });
        expect(later.valid).to.equal(true);
      });
    } else {
      it(`are refused more than ${seconds} seconds before or after they were signed`, async () => {
        const sent = await genuine();
        for (const sign of [1, -1]) {
          const early = await verified(provider, secret, sent, { nowMs: NOW + sign * (seconds - 1) * 1000 });
          expect(early.valid).to.equal(true);
          const late = await verified(provider, secret, sent, { nowMs: NOW + sign * (seconds + 1) * 1000 });
          expect(late.valid ? 'accepted' : late.reason).to.match(/more than \d+ seconds/);
        }
      });
    }

    it('never throw, whatever a stranger sends', async () => {
      const sent = await genuine();
      const [header = 'x'] = Object.keys(sent.headers).filter((its) => SIGNED_NAMES.test(its));
      const isRefused = async (text: string, body: Buffer) =>
        !(await verified(provider, secret, sent, { headers: { [header]: text }, body, query: text })).valid;
      await fc.assert(
        fc.asyncProperty(fc.string(), fc.string(), fc.json(), async (text, other, json) => {
          const [first, second] = [await isRefused(text, Buffer.from(other)), await isRefused(text, Buffer.from(json))];
          return first && second;
        }),
        { numRuns: 50 },
      );
    });

    it('that hookyard send signs are genuine, unless only the provider can sign', async () => {
      const sample = sampleOf(provider, undefined, new Date(NOW));
      expect(sample).to.not.equal(undefined);
      if (!sample) return;
      const { headers } = sample;
      const contentType = headers['Content-Type'] ?? '';
      const signed = signAs(provider.verification, secret, {
        ...{ url: ADDRESS, body: sample.body, contentType, nowMs: NOW, id: 'msg_1' },
      });
      if (provider.verification.kind === 'public-key') return expect(signed).to.equal(null);
      const lower = Object.entries({ ...headers, ...signed?.headers }).map(([its, value]) => [
        its.toLowerCase(),
        value,
      ]);
      const query = new URLSearchParams(signed?.query).toString();
      const sent = { headers: Object.fromEntries(lower), body: signed?.body as Buffer, query };
      expect(await verified(provider, secret, sent)).to.deep.include({ valid: true });
    });
  });
}
