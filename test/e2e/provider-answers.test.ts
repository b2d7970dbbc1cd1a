import { expect } from 'chai';
import type { Json } from '../support/api-client.ts';
import { type Ask, askSource, signedRequest } from '../support/providers/provider-requests.ts';
import { signers } from '../support/providers/provider-signers.ts';
import type { SourceView } from '../support/records.ts';
import { useHookyard } from '../support/use-hookyard.ts';

describe('answers of sources', () => {
  const { testInstance, records } = useHookyard();

  const ask: Ask = (source, method, rest) => askSource(testInstance.client.url, source, method, rest);
  const sourceOf = (provider: string, verificationConfig: Json, fields: Json = {}) =>
    records.source({ provider, verificationConfig, ...fields });
  const update = ({ id }: SourceView, fields: Json) =>
    testInstance.client.patch<Json>(`${testInstance.base}/sources/${id}`, fields);

  it('answer what the owner set, after the event was stored', async () => {
    const source = await records.source({ answer: { status: 201, body: '<ok/>', contentType: 'text/xml' } });
    const reply = await ask(source, 'POST', { body: '{}' });
    expect(reply).to.include({ status: 201, text: '<ok/>', type: 'text/xml; charset=utf-8' });
    expect(reply.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(reply.headers.get('content-security-policy')).to.equal("sandbox; default-src 'none'");
    expect(await records.storedEvents(source.id)).to.equal(1);
    await update(source, { answer: { status: 204 } });
    expect(await ask(source, 'POST', { body: '{}' })).to.include({ status: 204, text: '', type: null });
    await update(source, { answer: { status: 200 } });
    expect(await ask(source, 'POST', { body: '{}' })).to.include({ status: 200, text: '', type: null });
    await update(source, { answer: null });
    expect(JSON.parse((await ask(source, 'POST', { body: '{}' })).text)).to.include({ success: true });
  });

  it('answer a repeat like the first, and a refusal as ever', async () => {
    const source = await records.source({
      verificationConfig: { type: 'github', secret: 's3cret-s3cret-s3cret' },
      answer: { status: 202 },
    });
    const refused = await ask(source, 'POST', { body: '{}' });
    expect([refused.status, JSON.parse(refused.text)]).to.have.nested.property('[1].code', 'INVALID_SIGNATURE');
    expect(refused.status).to.equal(401);
    const open = await records.source({
      answer: { status: 202 },
      idempotencyKey: { jsonPath: '$.id', windowSeconds: 60 },
    });
    const statuses = [await ask(open, 'POST', { body: '{"id":1}' }), await ask(open, 'POST', { body: '{"id":1}' })];
    expect(statuses.map(({ status }) => status)).to.deep.equal([202, 202]);
    expect(await records.storedEvents(open.id)).to.equal(1);
  });

  it('answer Twilio with TwiML, unless the owner says otherwise', async () => {
    const { secret, key } = (signers.twilio as (typeof signers)[string]).secret();
    const source = await sourceOf('twilio', { secret });
    const first = await ask(source, 'POST', await signedRequest('twilio', source, key));
    expect(first).to.include({ status: 200, text: '<Response/>', type: 'text/xml; charset=utf-8' });
    await update(source, { answer: { status: 204 } });
    expect((await ask(source, 'POST', await signedRequest('twilio', source, key))).status).to.equal(204);
  });

  for (const [name, status] of Object.entries({ airtable: 204, discord: 204, okta: 204, xero: 200 })) {
    it(`answer ${name} as it asks: ${status} without a body`, async () => {
      const { secret, key } = (signers[name] as (typeof signers)[string]).secret();
      const source = await sourceOf(name, { secret });
      const reply = await ask(source, 'POST', await signedRequest(name, source, key));
      expect(reply).to.include({ status, text: '', type: null });
      expect(reply.headers.get('set-cookie')).to.equal(null);
      expect(await records.storedEvents(source.id)).to.equal(1);
      await update(source, { answer: { status: 202, body: 'ok' } });
      expect(await ask(source, 'POST', await signedRequest(name, source, key))).to.include({ status: 202, text: 'ok' });
    });
  }

  it('answer the intent to receive of Xero without a body, whether it is signed or not', async () => {
    const { secret, key } = (signers.xero as (typeof signers)[string]).secret();
    const source = await sourceOf('xero', { secret });
    const intent = JSON.stringify({ events: [], firstEventSequence: 0, lastEventSequence: 0, entropy: 'S0m3r4Nd0' });
    const reply = await ask(source, 'POST', await signedRequest('xero', source, key, intent));
    expect(reply).to.include({ status: 200, text: '', type: null });
    const wrong = await ask(source, 'POST', await signedRequest('xero', source, 'another key of many letters', intent));
    expect(wrong).to.include({ status: 401, text: '', type: null });
    const concealed = await sourceOf('xero', { secret }, { concealed: true });
    expect(JSON.parse((await ask(concealed, 'POST', { body: intent })).text)).to.include({
      code: 'RESOURCE_NOT_FOUND',
    });
  });
});
