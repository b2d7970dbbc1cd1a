// A stranger who may send a webhook must not steer the servers behind a destination by its headers, or speak for the
// proxies in front of them. What providers send arrives all the same.
import { expect } from 'chai';
import type { Json } from '../support/api-client.ts';
import { useHookyard } from '../support/use-hookyard.ts';

/**
 * Some that would change what a server behind takes the request for, or whom it is from. All:
 * test/core/forwarded-headers.test.ts.
 */
const STEERING: Record<string, string> = {
  'x-http-method-override': 'DELETE',
  'x-forwarded-host': 'evil.example',
  'x-real-ip': '127.0.0.1',
  'x-middleware-subrequest': 'middleware',
  'webhook-id': 'msg_forged',
  'webhook-signature': 'v1,Zm9yZ2Vk',
};
const underscored = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replaceAll('-', '_'), value]));

describe('headers that steer servers', () => {
  const { records, receiver } = useHookyard();

  /** The headers with which a webhook arrives. */
  async function arrived(received: Record<string, string>, destination: Json = {}) {
    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url, { destination });
    await records.eventWith('delivered', await records.accepted(source, '{}', received));
    expect(endpoint.requests).to.have.length(1);
    return endpoint.requests[0]?.headers ?? {};
  }

  it('do not reach a destination, in either spelling', async () => {
    const headers = await arrived({ ...STEERING, ...underscored(STEERING), 'x-shop': 'north' });
    expect(headers).to.include({ 'x-shop': 'north' });
    expect(headers).to.not.have.any.keys(...Object.keys(STEERING), ...Object.keys(underscored(STEERING)));
  });

  it('reach a destination that asks for all, but for credentials and those of the connection and of Hookyard', async () => {
    const never = {
      authorization: 'Bearer stolen',
      cookie: 'session=1',
      'proxy-authorization': 'Basic eDp5',
      'accept-encoding': 'gzip',
      'x-hookyard-tenant': 'acme',
    };
    const headers = await arrived({ ...STEERING, ...never }, { forwardHeaders: 'all' });
    expect(headers)
      .to.include(STEERING)
      .and.not.have.any.keys(...Object.keys(never));
  });

  it('are never mistaken for a signature: that of Hookyard replaces them', async () => {
    const signingSecret = `whsec_${Buffer.alloc(24, 's').toString('base64')}`;
    const headers = await arrived(STEERING, { forwardHeaders: 'all', signingSecret });
    expect(headers['webhook-id']).to.match(/^evt_/);
    expect(headers['webhook-signature']).to.not.include(STEERING['webhook-signature'] ?? '');
  });
});
