// The request that a destination gets: method, headers, credentials and signature.
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { valueBytes } from '../../core/http/header-text.ts';
import { onceMore, type Records } from '../support/records.ts';
import { describeNoTraces, PLANTED } from '../support/attacks/secrecy.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const BODY = JSON.stringify({ note: `${PLANTED} payload` });

describe('the request of a delivery', () => {
  const { testInstance, records, receiver } = useHookyard();

  const deliver = (url: string, ending: string, fields?: Parameters<Records['pipe']>[1]) =>
    records.deliver(url, BODY, ending, fields);

  it('has the received headers except those of the connection, credentials and proxies, and those of Hookyard', async () => {
    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url, { destination: { headers: { 'X-Team': 'blue' } } });
    const eventId = await records.accepted(source, BODY, {
      'content-type': 'application/json',
      'x-shop': 'north',
      accept: '*/*',
      'x-team': 'red',
      'x-hookyard-attempt': '99',
      host: 'hooks.example.com',
      cookie: 'session=1',
      authorization: 'Bearer for-hookyard',
      forwarded: 'for=192.0.2.1',
      'x-forwarded-for': '192.0.2.1',
      'accept-encoding': 'gzip',
      connection: 'keep-alive, x-hop',
      'x-hop': '1',
      te: 'trailers',
    });
    const delivery = await records.deliveryWith('delivered', eventId);
    const [request] = endpoint.requests;
    expect(request?.method).to.equal('POST');
    expect(request?.headers).to.include({
      'content-type': 'application/json',
      'x-shop': 'north',
      accept: '*/*',
      'x-team': 'blue',
      'content-length': `${BODY.length}`,
      host: new URL(endpoint.url).host,
      'x-hookyard-event-id': eventId,
      'x-hookyard-delivery-id': delivery.id,
      'x-hookyard-attempt': '1',
      'x-hookyard-source': source.slug,
    });
    expect(request?.headers['user-agent']).to.match(/^Hookyard\/\d/);
    expect(request?.headers).to.not.have.any.keys(
      ...['cookie', 'authorization', 'forwarded', 'x-forwarded-for', 'accept-encoding', 'x-hop', 'te'],
    );
  });

  for (const method of ['POST', 'PUT', 'PATCH']) {
    it(`is a ${method} when the destination says so`, async () => {
      const endpoint = receiver.endpoint(200);
      await deliver(endpoint.url, 'delivered', { destination: { method } });
      expect(endpoint.requests[0]?.method).to.equal(method);
    });
  }

  const secret = `${PLANTED}-credential`;
  const basic = `Basic ${Buffer.from(`shop:${secret}`).toString('base64')}`;
  const credentials: [authType: string, authConfig: object, header: string, value: string][] = [
    ['basic', { username: 'shop', password: secret }, 'authorization', basic],
    ['bearer', { token: secret }, 'authorization', `Bearer ${secret}`],
    ['api_key', { headerName: 'X-Api-Key', key: secret }, 'x-api-key', secret],
    ['custom_header', { headerName: 'X-Shop-Token', headerValue: secret }, 'x-shop-token', secret],
  ];
  for (const [authType, authConfig, header, value] of credentials) {
    it(`has the credentials of authType ${authType}, masked in the record of the attempt`, async () => {
      const endpoint = receiver.endpoint(200);
      const { delivery } = await deliver(endpoint.url, 'delivered', { destination: { authType, authConfig } });
      expect(endpoint.requests[0]?.headers[header]).to.equal(value);
      expect(JSON.stringify(delivery)).to.not.include(value);
      const recorded = Object.entries(delivery.attempts[0]?.requestHeaders ?? {});
      const [, masked] = recorded.find(([name]) => name.toLowerCase() === header) ?? [];
      expect(masked).to.match(/^••••/);
    });
  }

  it('has a signature by Standard Webhooks when the destination has a signing secret', async () => {
    const endpoint = receiver.endpoint(503, 200);
    const key = Buffer.from(`${PLANTED}-signing-key-of-32-bytes`);
    const signingSecret = `whsec_${key.toString('base64')}`;
    const { eventId } = await deliver(endpoint.url, 'delivered', {
      destination: { signingSecret, retryPolicy: onceMore(1) },
    });
    expect(endpoint.requests).to.have.length(2);
    for (const { headers, body } of endpoint.requests) {
      const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = headers;
      expect(id, 'the same in every attempt').to.equal(eventId);
      expect(Math.abs(Number(time) - Date.now() / 1000)).to.be.below(60);
      const right = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64');
      expect(signature).to.equal(`v1,${right}`);
    }
  });

  it('has headers beyond ASCII byte by byte, while everything else reads their text', async () => {
    const answered = { status: 200, headers: { 'x-city': valueBytes('Łódź'), 'x-old': 'Zürich' } };
    const endpoint = receiver.endpoint(answered);
    const code = 'export default ({ headers }) => ({ customer: headers["x-customer"], old: headers["x-old"] })';
    const { id: transformId } = await testInstance.client.create<{ id: string }>('/api/transforms', {
      ...{ name: 'Customer', type: 'javascript', code },
    });
    const secret = 'contraseña-ключ-sixteen';
    const { source } = await records.pipe(endpoint.url, {
      source: { verificationConfig: { type: 'header_token', header: 'X-Token', secret } },
      destination: {
        ...{ headers: { 'X-Team': 'Équipe Łódź' }, authType: 'custom_header' },
        authConfig: { headerName: 'X-Sent-Token', headerValue: secret },
      },
      route: { transformId, filterConditions: [{ field: 'headers.x-customer', operator: 'equals', value: 'Renée' }] },
    });
    const sent = { 'x-customer': valueBytes('Renée'), 'x-old': 'Renée', from: ['a@b.example', 'c@d.example'] };
    const headers = { 'content-type': 'application/json', 'x-token': valueBytes(secret), ...sent };
    const eventId = await records.accepted(source, '{}', headers);
    const delivery = await records.deliveryWith('delivered', eventId);
    const [request] = endpoint.requests;
    expect(request?.body.toString()).to.equal('{"customer":"Renée","old":"Renée"}');
    expect(request?.headers).to.include({
      ...{ 'x-customer': valueBytes('Renée'), 'x-old': 'Renée', from: 'a@b.example, c@d.example' },
      ...{ 'x-team': valueBytes('Équipe Łódź'), 'x-sent-token': valueBytes(secret) },
    });
    const [attempt] = delivery.attempts;
    expect(attempt?.requestHeaders).to.include({ 'x-customer': 'Renée', 'X-Team': 'Équipe Łódź' });
    expect(attempt?.responseHeaders).to.include({ 'x-city': 'Łódź', 'x-old': 'Zürich' });
    const event = await records.event(eventId);
    expect(event.headers).to.include({ 'x-customer': 'Renée', 'x-old': 'Renée', from: 'a@b.example, c@d.example' });
    expect(event.headers).to.not.have.any.keys('x-token');
    const { request: shown } = await testInstance.client.get<{ request: { headers: object } }>(
      `/api/deliveries/${delivery.id}/request`,
    );
    expect(shown.headers).to.include({ 'x-customer': 'Renée', 'X-Team': 'Équipe Łódź' });
    const wrong = await records.post(source, '{}', { ...headers, 'x-token': valueBytes(`${secret}é`) });
    expect(wrong.status).to.equal(401);
  });

  describeNoTraces(() => testInstance);
});
