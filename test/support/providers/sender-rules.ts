// What every scheme must do: genuine webhooks are taken, and nothing else.
import { expect } from 'chai';
import type { KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { isSigned, type Scheme, type Verification, verify } from '../../../core/verification/index.ts';
import { NO_KEYS, type PublishedKeys } from '../../../core/verification/published-keys.ts';
import { rawRequest } from '../raw-request.ts';
import { everyByte } from './published-signers.ts';
import type { SentMessage, Signer } from './signer.ts';
import { ADDRESS } from './verified.ts';

export const NOW = Date.parse('2026-03-01T12:00:00.250Z');

export type Sent = SentMessage & { body: Buffer };
type Change = Partial<Sent & { nowMs: number; address: string; isRepeated: (name: string) => boolean }>;
type Secret = { secret: string | undefined; key: string | KeyObject };

export interface TestedSender extends Pick<Signer, 'sign' | 'seconds' | 'covers'> {
  scheme: Scheme;
  body: Buffer;
  /** Of the source. */
  own: Secret;
  /** Of another one. */
  other: Secret;
  /** Those that are refused when they come twice, are missing or empty. */
  headersOf: (sent: Sent) => readonly string[];
  keys?: () => PublishedKeys;
}

/** Declares the tests of a sender. @returns what more tests of it need */
export function testSender({ scheme, body, own, other, keys = () => NO_KEYS, ...sender }: TestedSender) {
  const { covers, seconds, headersOf } = sender;

  async function genuine(key = own.key): Promise<Sent> {
    const sent = await sender.sign({ body, nowMs: NOW, url: ADDRESS }, key);
    return { ...sent, body: sent.body ?? body };
  }
  async function verified(sent: Sent, change: Change = {}, { secret = '' } = own): Promise<Verification> {
    const request = rawRequest({ nowMs: NOW, address: ADDRESS, ...sent, ...change });
    return verify(scheme, { secret }, request, keys());
  }
  const expectTaken = async (sent: Sent, change: Change = {}) =>
    expect(await verified(sent, change)).to.deep.include({ valid: true });
  async function expectRefused(what: string, sent: Sent, change: Change = {}, secret = own): Promise<string> {
    const outcome = await verified(sent, change, secret);
    expect(outcome.valid, what).to.equal(false);
    return outcome.valid ? '' : outcome.reason;
  }

  it('are taken when they are genuine', async () => {
    const outcome = await verified(await genuine());
    expect(outcome).to.deep.include({ valid: true });
    expect(outcome.valid && outcome.mac !== null).to.equal(isSigned(scheme));
  });

  it('are refused with the secret of another source', async () => {
    await expectRefused('the sender has another', await genuine(other.key));
    if (own.secret !== undefined) await expectRefused('the source has another', await genuine(), {}, other);
  });

  const { part, changed, unchanged } =
    typeof covers === 'object' ? covers : { part: 'every byte', changed: everyByte, unchanged: null };
  if (covers !== 'nothing') {
    it(`are refused with any change of ${part}${unchanged ? ', and the rest is not covered' : ''}`, async () => {
      const sent = await genuine();
      for (const [at, body] of changed(sent.body).entries()) await expectRefused(`change ${at}`, sent, { body });
      if (unchanged) await expectTaken(sent, { body: unchanged(sent.body) });
    });
  }

  if (covers === 'headers') {
    it('are refused with another value of a signed header', async () => {
      const sent = await genuine();
      for (const [header, value] of Object.entries(sent.headers))
        await expectRefused(header, sent, { headers: { ...sent.headers, [header]: `${value}x` } });
    });
  }

  if (covers === 'address') {
    it('are refused at another address', async () => {
      await expectRefused('another path', await genuine(), { address: `${ADDRESS}2` });
      await expectRefused('another query', await genuine(), { query: 'more=1' });
    });
  }

  it('are refused when a header of the signature comes twice, is missing or empty', async () => {
    const sent = await genuine();
    for (const header of headersOf(sent)) {
      const { [header]: value = '', ...others } = sent.headers;
      await expectRefused(header, sent, { headers: { ...others, [header]: `${value}, ${value}` } });
      await expectRefused(`repeated ${header}`, sent, { isRepeated: (its) => its === header });
      await expectRefused(`without ${header}`, sent, { headers: others });
      await expectRefused(`empty ${header}`, sent, { headers: { ...others, [header]: '' } });
    }
    if (sent.query === undefined) return;
    await expectRefused('parameter twice', sent, { query: `${sent.query}&${sent.query}` });
    await expectRefused('without parameter', sent, { query: '' });
  });

  if (seconds === undefined) {
    it('are taken at any time, because none is signed', async () =>
      expectTaken(await genuine(), { nowMs: NOW + 365 * 86_400_000 }));
  } else {
    it(`are refused more than ${seconds} seconds before or after they were signed`, async () => {
      for (const sign of [1, -1]) {
        await expectTaken(await genuine(), { nowMs: NOW + sign * (seconds - 1) * 1000 });
        const late = { nowMs: NOW + sign * (seconds + 1) * 1000 };
        expect(await expectRefused('late', await genuine(), late)).to.match(/more than \d+ seconds/);
      }
    });
  }

  it('never throw, whatever a stranger sends', async () => {
    const sent = await genuine();
    const [header = 'x'] = headersOf(sent);
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), fc.json(), async (text, other, json) => {
        const headers = { ...sent.headers, [header]: text };
        for (const each of [other, json])
          if ((await verified(sent, { headers, body: Buffer.from(each), query: text })).valid) return false;
        return true;
      }),
      { numRuns: 50 },
    );
  });

  return { expectTaken };
}
