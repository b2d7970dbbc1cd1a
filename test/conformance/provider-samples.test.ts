// The samples of every provider have what the registry says of its webhooks: their type, their id and what tells a
// repeat.
import { expect } from 'chai';
import { readPayload } from '../../core/forms/forms.ts';
import { lookupPath } from '../../core/text/dotted-path.ts';
import { replyTo } from '../../core/verification/handshakes.ts';
import { isSigned } from '../../core/verification/index.ts';
import { dedupOf, type Place, type Provider, providers } from '../../providers/index.ts';
import { sampleOf } from '../../providers/sample.ts';
import { signers } from '../support/providers/provider-signers.ts';
import { publishedSigners } from '../support/providers/published-signers.ts';
import { ADDRESS } from '../support/providers/verified.ts';
import { rawRequest } from '../support/raw-request.ts';

const NOW = new Date('2026-03-01T12:00:00.250Z');
// Of those that have several common events.
const SEVERAL = [
  ...['adyen', 'clerk', 'github', 'gitlab', 'hubspot', 'instagram', 'jira', 'linear', 'meta', 'paddle', 'paypal'],
  ...['sendgrid', 'shopify', 'slack', 'square', 'stripe', 'twilio', 'whatsapp', 'zendesk', 'zoom'],
];

interface Sent {
  headers: Record<string, string>;
  body: Buffer;
}

/** A sample as it arrives, with the headers of its signature. */
async function sentSample(provider: Provider, event: string): Promise<Sent> {
  const { name } = provider;
  const sample = sampleOf(provider, event, NOW);
  if (sample === undefined) return expect.fail(`${name} has no sample of ${event}`);
  const message = { body: sample.body, nowMs: NOW.getTime(), url: ADDRESS };
  const [signer, published] = [signers[name], publishedSigners[name]];
  const signed = signer
    ? await signer.sign(message, signer.secret().key)
    : published?.sign({ ...message, secret: published.secret() }, published.key());
  const named = Object.entries(sample.headers).map(([its, value]) => [its.toLowerCase(), value]);
  return { headers: { ...signed?.headers, ...Object.fromEntries(named) }, body: sample.body };
}

const payloadOf = ({ headers, body }: Sent): unknown => readPayload(body, headers['content-type']);
const valueAt = (place: Place, sent: Sent): unknown =>
  'header' in place ? sent.headers[place.header.toLowerCase()] : lookupPath(payloadOf(sent), place.payload)[0];

function expectValue(value: unknown, what: string): void {
  expect(typeof value, what).to.be.oneOf(['string', 'number']);
  expect(value, what).not.to.equal('');
}

for (const provider of providers) {
  const { name, samples, eventType, eventId, verification } = provider;
  const dedup = dedupOf(provider);
  describe(`samples of ${name}`, () => {
    const events = samples.filter(({ isHandshake }) => !isHandshake);

    it('have a name each, and nothing left to fill in', async () => {
      const names = samples.map(({ event }) => event);
      expect(new Set(names).size).to.equal(names.length);
      expect(events.length, 'events').to.be.at.least(SEVERAL.includes(name) ? 2 : 1);
      for (const event of names) {
        const { headers, body } = await sentSample(provider, event);
        const sent = `${JSON.stringify(headers)} ${body}`;
        expect(sent, event).not.to.match(/\{(?:uuid|hex|time|seconds|milliseconds)[:}]/);
        if (headers['content-type']?.startsWith('application/json')) JSON.parse(body.toString());
      }
    });

    it('have their type, their id and what tells a repeat where the registry says', async () => {
      for (const { event } of events) {
        const sent = await sentSample(provider, event);
        if (eventType !== undefined) expect(valueAt(eventType, sent), event).to.equal(event);
        if (eventId !== undefined) expectValue(valueAt(eventId, sent), `id of ${event}`);
        if (dedup === null) continue;
        if ('signature' in dedup) expect(isSigned(verification)).to.equal(true);
        else expectValue(valueAt('header' in dedup ? dedup : { payload: dedup.jsonPath }, sent), `repeat of ${event}`);
      }
    });

    const asking = samples.filter(({ isHandshake }) => isHandshake);
    if (asking.length > 0) {
      it('are answered when they ask whether the address is right', async () => {
        for (const { event } of asking) {
          const { headers, body } = await sentSample(provider, event);
          const request = rawRequest({ headers, body, nowMs: NOW.getTime(), address: ADDRESS });
          const reply = replyTo(provider.handshakes ?? [], { secret: 'any' }, request, true);
          expect(reply, event).to.include({ status: 200 });
        }
      });
    }
  });
}
