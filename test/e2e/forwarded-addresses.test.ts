import { expect } from 'chai';
import { type HttpAnswer, send } from '../support/requests/http-client.ts';
import type { Endpoint } from '../support/receiver.ts';
import { type Accepted, onceMore, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const TAKES_BOTH = { forwardQuery: true, forwardPath: true };
const PATHS = { allowPaths: true };

describe('addresses of webhooks', () => {
  const { testInstance, records, receiver } = useHookyard();

  /** Sends a webhook to what follows the address of a source; the id of its event. */
  async function sendTo(source: SourceView, below: string): Promise<string> {
    const { pathname } = new URL(source.webhookUrl);
    const url = `${testInstance.client.url}${pathname}${below}`;
    const answer: HttpAnswer<Accepted> = await send('POST', url, { 'content-type': 'application/json' }, '{"a":1}');
    expect(answer.status, answer.bytes.toString()).to.equal(200);
    return answer.body.eventId;
  }

  /** What was requested of an endpoint, without the part of its address that is its own. */
  const targets = ({ url, requests }: Endpoint) =>
    requests.map(({ target }) => target.slice(new URL(url).pathname.length));
  const requestOf = async (deliveryId: string) =>
    (await testInstance.client.get<{ request: { url: string } }>(`/api/deliveries/${deliveryId}/request`)).request;

  it('travel as they were received, and what the destination says of itself counts', async () => {
    const endpoint = receiver.endpoint(200);
    const url = `${endpoint.url}/in?key=own`;
    const { source } = await records.pipe(url, { source: PATHS, destination: TAKES_BOTH });
    const eventId = await sendTo(source, '/orders/a%20b?a=%7e&key=evil&KEY=evil&b=x+y');
    const { deliveries = [] } = await records.eventWith('delivered', eventId);
    const below = '/in/orders/a%20b?key=own&a=%7e&b=x+y';
    expect(targets(endpoint)).to.deep.equal([below]);
    const request = await requestOf(deliveries[0]?.id ?? '');
    expect(request.url).to.equal(`${endpoint.url}${below}`);
  });

  it('travel byte by byte, whatever a URL parser would make of them', async () => {
    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url, { source: PATHS, destination: TAKES_BOTH });
    const { pathname } = new URL(source.webhookUrl);
    const path = `/'"<>|^{}[]\`~!$&()*+,-.:;=@_%7e%2D/`;
    const query = `&a='"<>|^{}\\[]\`~!$()*+,-./:;=@_%zz%2e%2E/../?&&b=%c3%28&`;
    // Of an absolute address, too (RFC 9112, section 3.2.2).
    for (const before of ['', 'http://hooks.example']) {
      const target = `${before}${pathname}${path}?${query}`;
      const answer = await send<Accepted>('POST', testInstance.client.url, {}, '{}', target);
      expect(answer.status, answer.bytes.toString()).to.equal(200);
      const { deliveries = [] } = await records.eventWith('delivered', answer.body.eventId);
      expect(targets(endpoint).at(-1)).to.equal(`${path}?${query}`);
      expect(await records.event(answer.body.eventId)).to.include({ path, query });
      const request = await requestOf(deliveries[0]?.id ?? '');
      expect(request.url).to.equal(`${endpoint.url}${path}?${query}`);
    }
  });

  it('are the same in retries, replays and failovers', async () => {
    const [bad, good] = [receiver.endpoint(500, 500), receiver.endpoint(200)];
    const source = await records.source(PATHS);
    const destination = await records.destination(bad.url, { ...TAKES_BOTH, retryPolicy: onceMore(1) });
    const other = await records.destination(good.url, { forwardQuery: true });
    await records.route(source.id, [destination.id], {
      ...{ failoverDestinationIds: [other.id], failoverAfterAttempts: 2, circuitFailureThreshold: 100 },
    });
    const eventId = await sendTo(source, '/x?a=1');
    await records.eventWith('delivered', eventId);
    expect(targets(bad)).to.deep.equal(['/x?a=1', '/x?a=1']);
    expect(targets(good)).to.deep.equal(['?a=1']);
    await testInstance.client.post(`${testInstance.base}/events/${eventId}/replay`, {});
    await until('the replay', () => bad.requests.length > 2);
    expect(targets(bad)[2]).to.equal('/x?a=1');
    await records.eventWith('delivered', eventId);
  });

  it('never hold the secret of a source: neither its token nor that of a provider', async () => {
    const endpoint = receiver.endpoint(200);
    const secret = 'a secret of many letters';
    const { source } = await records.pipe(endpoint.url, {
      source: {
        ...{ ...PATHS, ingestToken: 'optional', provider: 'azure-event-grid' },
        verificationConfig: { secret },
      },
      destination: TAKES_BOTH,
    });
    const query = `a=1&token=${encodeURIComponent(secret)}&b=%7e`;
    const eventId = await sendTo(source, `/x?${query}`);
    await records.eventWith('delivered', eventId);
    expect(targets(endpoint)).to.deep.equal(['/x?a=1&b=%7e']);
    expect(await records.event(eventId)).to.include({ path: '/x', query: 'a=1&b=%7e' });
  });
});
