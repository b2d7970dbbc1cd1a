// Webhooks that are forms, from the provider to all that reads them: filters, schemas, idempotency keys and transforms
// see their fields; the event and what is sent on stay the bytes that came.
import { expect } from 'chai';
import { send } from '../support/requests/http-client.ts';
import { signers } from '../support/providers/provider-signers.ts';
import type { Accepted, SourceView } from '../support/records.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const FORM = 'application/x-www-form-urlencoded';
const MESSAGE = 'ToCountry=US&MessageSid=SM1&Body=Hello+%26+goodbye&To=%2B18005551212&From=%2B14158675309&Empty=';
const fromEmma = { field: 'payload.From', operator: 'equals', value: '+14158675309' };

describe('webhooks that are forms', () => {
  const { testInstance, records, receiver } = useHookyard();

  const transform = (type: string, code: string, fields: object = {}) =>
    testInstance.client.create('/api/transforms', { name: 'Of a form', type, code, ...fields });

  it('of Twilio are filtered, known again and transformed by their fields, and stay what they are', async () => {
    const twilio = signers.twilio as (typeof signers)[string];
    const { secret, key } = twilio.secret();
    const [plain, reshaped] = [receiver.endpoint(200), receiver.endpoint(200)];
    const { id: transformId } = await transform(
      'javascript',
      'export default ({ payload }) => ({ from: payload.From, text: payload.Body, empty: payload.Empty })',
    );
    const { source, destination } = await records.pipe(plain.url, {
      source: {
        ...{ provider: 'twilio', verificationConfig: { secret } },
        idempotencyKey: { jsonPath: '$.MessageSid', windowSeconds: 300 },
      },
      route: { filterConditions: [fromEmma] },
    });
    const crm = await records.destination(reshaped.url);
    await records.route(source.id, [crm.id], { transformId });
    const receive = async (text: string) => {
      const body = Buffer.from(text);
      const { headers } = await twilio.sign({ body, nowMs: Date.now(), url: source.webhookUrl }, key);
      const url = testInstance.client.url + new URL(source.webhookUrl).pathname;
      // The answer is TwiML, which is not in the description of the API.
      return fetch(url, { method: 'POST', headers, body });
    };
    const newest = async () => {
      const { data } = await testInstance.client.list<{ id: string }>(
        `${testInstance.base}/events?sourceId=${source.id}`,
      );
      return data[0]?.id ?? '';
    };
    expect((await receive(MESSAGE)).status).to.equal(200);
    const eventId = await newest();
    await records.eventWith('delivered', eventId);
    expect(plain.requests.map(({ body }) => body.toString())).to.deep.equal([MESSAGE]);
    expect(plain.requests[0]?.headers['content-type']).to.equal(FORM);
    expect(reshaped.requests.map(({ body }) => JSON.parse(body.toString()))).to.deep.equal([
      { from: '+14158675309', text: 'Hello & goodbye', empty: '' },
    ]);
    expect(reshaped.requests[0]?.headers['content-type']).to.equal('application/json');
    // EVT-07: the API shows the text that came.
    expect((await records.event(eventId, 'includePayload=true')).payload).to.equal(MESSAGE);

    // The same message again, and another one of somebody else.
    await receive(MESSAGE);
    expect(await records.storedEvents(source.id)).to.equal(1);
    await receive(MESSAGE.replace('SM1', 'SM2').replace('%2B14158675309', '%2B49301234'));
    expect(await records.storedEvents(source.id)).to.equal(2);
    await records.eventWith('delivered', await newest());
    expect([plain.requests.length, reshaped.requests.length]).to.deep.equal([1, 2]);
    expect((await testInstance.client.get(`/api/destinations/${destination.id}`)).deliveriesCount).to.equal(1);
  });
});

describe('webhooks with a key in the query', () => {
  const { testInstance, records } = useHookyard();

  const receive = (source: SourceView, query: string) =>
    send<Accepted>('POST', `${testInstance.client.url}${new URL(source.webhookUrl).pathname}${query}`, {}, '{}');

  it('are known again by it', async () => {
    const source = await records.source({ idempotencyKey: { query: 'delivery', windowSeconds: 300 } });
    const first = await receive(source, '?delivery=a%20b&x=1');
    expect(first.body).to.include({ success: true });
    for (const query of ['?delivery=a%20b', '?y=2&delivery=a+b'])
      expect((await receive(source, query)).body).to.deep.equal({ ...first.body, duplicate: true });
    const others = [
      '',
      '?delivery=',
      '?delivery',
      '?Delivery=a%20b',
      '?delivery=a',
      '?delivery=a&delivery=b',
      '?delivery=',
    ];
    for (const query of others) expect((await receive(source, query)).body, query).not.to.have.property('duplicate');
    expect((await receive(source, '?delivery=a&delivery=b')).body).to.have.property('duplicate', true);
    expect(await records.storedEvents(source.id)).to.equal(others.length + 1);
  });
});
