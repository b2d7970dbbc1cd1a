// POST /api/destinations/{id}/test.
import { expect } from 'chai';
import { expectInvalid } from '../support/api-client.ts';
import { makeDestination } from '../support/api-records.ts';
import { useOrganization, useReceiver } from '../support/use-hookyard.ts';

describe('Destination test', () => {
  const organization = useOrganization();
  const receiver = useReceiver();
  const taking = (status = 200) => receiver.endpoint({ status, body: 'thank you' });

  it('adds a path and a query as deliveries do, if the destination takes them', async () => {
    const body = { path: '/orders/7', query: 'a=%7e&key=evil' };
    const both = { forwardPath: true, forwardQuery: true };
    for (const [choice, expected] of [
      [{}, '?key=own'],
      [both, '/orders/7?key=own&a=%7e'],
    ] as const) {
      const { url, requests } = taking();
      const { id } = await makeDestination(organization, { url: `${url}?key=own`, ...choice });
      expect(await organization.api.post(`/api/destinations/${id}/test`, body)).to.include({ success: true });
      expect(requests[0]?.target).to.equal(new URL(url).pathname + expected);
      for (const path of ['orders', '/../x', '/a%2fb', '/a?b', '/a b', '/é', '/a#b']) {
        const refused = await organization.api.request('POST', `/api/destinations/${id}/test`, { path });
        expectInvalid(refused, 'path');
      }
      for (const query of ['a=#', 'a= b', 'a=é', 'a=1\r\nX: y']) {
        const refused = await organization.api.request('POST', `/api/destinations/${id}/test`, { query });
        expectInvalid(refused, 'query');
      }
    }
  });

  it('sends a sample event as the destination is configured, and reports the answer', async () => {
    const { url, requests } = taking();
    const { id } = await makeDestination(organization, {
      url,
      method: 'PUT',
      headers: { 'X-Team': 'crm' },
      authType: 'bearer',
      authConfig: { token: 'secret-token' },
      signingSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    });
    const result = await organization.api.post(`/api/destinations/${id}/test`);
    expect(result).to.include({ success: true, statusCode: 200, responseBody: 'thank you' });
    expect(result.latency).to.be.a('number');
    expect(result.message).to.be.a('string');
    const [request] = requests;
    expect(request?.method).to.equal('PUT');
    const headers = { 'x-team': 'crm', authorization: 'Bearer secret-token', 'content-type': 'application/json' };
    expect(request?.headers)
      .to.include(headers)
      .and.include.keys('webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-hookyard-event-id');
    expect(JSON.parse(String(request?.body))).to.be.an('object');
  });

  it('reports a refusal of the destination in the result', async () => {
    const { id } = await makeDestination(organization, { url: taking(503).url });
    const result = await organization.api.post(`/api/destinations/${id}/test`);
    expect(result).to.include({ success: false, statusCode: 503, responseBody: 'thank you' });
    expect(result.error).to.match(/503/);
  });

  it('reports a connection that failed', async () => {
    const { id } = await makeDestination(organization, { url: 'http://127.0.0.1:1/' });
    const result = await organization.api.post(`/api/destinations/${id}/test`);
    expect(result).to.include({ success: false, statusCode: null });
    expect(result.error).to.be.a('string').that.is.not.empty;
  });
});
