// What an installation has under way when its release is stopped for an upgrade: some of everything that waits.
import { createHmac } from 'node:crypto';
import type pg from 'pg';
import type { Endpoint, Receiver } from '../../support/receiver.ts';
import { onceMore } from '../../support/records.ts';
import { until } from '../../support/until.ts';
import { type Made, Requests } from './requests.ts';

// Longer than the story takes, so that what waits for a retry still does when the release is stopped. The wait after the second
// attempt is the longest there is: the upgraded installation makes the third one when it is asked to.
const patient = { maxRetries: 5, initialDelay: 120_000, maxDelay: 86_400_000, backoffMultiplier: 10 };
const CIRCUIT_COOLDOWN_S = 600;
const REPLAYED_EVENTS = 8;

/** Its receiver's addresses, as they stand in the file. */
export const ENDPOINTS = [
  'crm',
  'flaky',
  'express',
  'failing',
  'limited',
  'down',
  'primary',
  'standby',
  'target',
] as const;
export type EndpointName = (typeof ENDPOINTS)[number];
export const placeholder = (name: EndpointName): string => `http://receiver.invalid/${name}`;

/** Ids by what happened to them. */
export interface Story {
  organizationId: string;
  /** Signed, with a schema, a filter, a transform, credentials, and a mail for each success that is not sent yet. */
  crm: Flow & { secret: string; eventId: string; mailTo: string };
  /** Wait for their second attempt in Temporal; the first attempt of the second was made by the relay. */
  flaky: Flow & Waiting;
  express: Flow & Waiting;
  /** Waits for its second attempt, after which its failover destination takes over. */
  failover: Flow & Waiting;
  /** Have failed, and their workflows wait for a replay. */
  parked: (Flow & Waiting)[];
  /** Waits in the outbox for the slot of a rate limit. */
  limited: Flow & Waiting;
  /** An open circuit holds a delivery after an attempt and one before its first. */
  down: Flow & { heldAfter: Waiting; heldBefore: Waiting };
  /** A replay of events under way. */
  replay: Flow & { replayId: string; eventIds: string[] };
}

/** Where webhooks come in, and the route and destination they take. */
export interface Flow {
  sourceId: string;
  webhookPath: string;
  destinationId: string;
  routeId: string;
}

export interface Waiting {
  eventId: string;
  deliveryId: string;
}

/** Plays the story on a running installation. Returns when all of it waits. */
export async function playStory(
  service: { url: string; token: string; pool: pg.Pool },
  receiver: Receiver,
): Promise<{ story: Story; endpoints: Record<EndpointName, Endpoint> }> {
  const answers: Partial<Record<EndpointName, number>> = { crm: 200, limited: 200, target: 200, standby: 200 };
  const endpoints = Object.fromEntries(
    ENDPOINTS.map((name) => [name, receiver.endpoint(answers[name] ?? 500)]),
  ) as Record<EndpointName, Endpoint>;
  const requests = new Requests(service.url, service.token);
  const me = await requests.get<{ organization: { id: string } }>('/api/auth/me');
  const teller = new Teller(requests, me.organization.id, endpoints);
  const story: Story = {
    organizationId: me.organization.id,
    flaky: await teller.retrying('flaky'),
    express: await teller.retrying('express', { lane: 'express' }),
    failover: await teller.failover(),
    parked: [await teller.parked(), await teller.parked()],
    limited: await teller.limited(service.pool),
    down: await teller.down(),
    crm: await teller.crm(),
    replay: await teller.replay(),
  };
  const { rows } = await service.pool.query(
    'select 1 from route_notifications where route_id = $1 and sent_at is null',
    [story.crm.routeId],
  );
  if (rows.length !== 1) throw new Error('the mail of the success was sent before the release was stopped');
  return { story, endpoints };
}

class Teller {
  readonly #requests: Requests;
  readonly #base: string;
  readonly #endpoints: Record<EndpointName, Endpoint>;
  #sources = 0;
  constructor(requests: Requests, organizationId: string, endpoints: Record<EndpointName, Endpoint>) {
    this.#requests = requests;
    this.#base = `/api/organizations/${organizationId}`;
    this.#endpoints = endpoints;
  }

  /** A source with one route to one destination. */
  async #flow(name: EndpointName, destination: object, route: object = {}, source: object = {}): Promise<Flow> {
    const from = await this.#source(name, source);
    const to = await this.#destination(name, destination);
    return { ...from, destinationId: to.id, routeId: (await this.#route(name, from, to, route)).id };
  }

  async #source(name: string, fields: object = {}): Promise<Pick<Flow, 'sourceId' | 'webhookPath'>> {
    this.#sources += 1;
    const slug = `${name}-${this.#sources}`;
    const made = await this.#requests.make(`${this.#base}/sources`, { name: slug, slug, ...fields });
    return { sourceId: made.id, webhookPath: `/ingest/default/${slug}` };
  }

  #destination(name: EndpointName, fields: object): Promise<Made> {
    return this.#requests.make('/api/destinations', { name, url: this.#endpoints[name].url, ...fields });
  }

  #route(name: string, from: Pick<Flow, 'sourceId'>, to: Made, fields: object = {}): Promise<Made> {
    const route = { name, sourceId: from.sourceId, destinationIds: [to.id], ...fields };
    return this.#requests.make('/api/routes', route);
  }

  async #event(flow: Pick<Flow, 'webhookPath'>, body: string, headers?: Record<string, string>): Promise<string> {
    const answer = await this.#requests.send<{ eventId: string }>('POST', flow.webhookPath, body, headers);
    return answer.eventId;
  }

  /** Waits until the delivery of an event has a status. */
  async #reached(status: string, eventId: string): Promise<Waiting> {
    return until(`the delivery of ${eventId} to be ${status}`, async () => {
      const path = `/api/deliveries?eventId=${eventId}`;
      const { data } = await this.#requests.get<{ data: { id: string; status: string }[] }>(path);
      const [delivery] = data;
      if (delivery?.status !== status) throw new Error(`it is ${delivery?.status}`);
      return { eventId, deliveryId: delivery.id };
    });
  }

  async retrying(name: EndpointName, route: object = {}) {
    const flow = await this.#flow(name, { retryPolicy: patient }, route);
    return { ...flow, ...(await this.#reached('retrying', await this.#event(flow, `{"to":"${name}"}`))) };
  }

  async failover() {
    const standby = await this.#destination('standby', {});
    return this.retrying('primary', { failoverDestinationIds: [standby.id], failoverAfterAttempts: 2 });
  }

  async parked() {
    const flow = await this.#flow('failing', { retryPolicy: onceMore(1) });
    return { ...flow, ...(await this.#reached('failed', await this.#event(flow, '{"parked":true}'))) };
  }

  async limited(pool: pg.Pool) {
    const flow = await this.#flow('limited', { rateLimitPerMinute: 1 });
    await this.#reached('delivered', await this.#event(flow, '{"n":1}'));
    const waiting = await this.#reached('pending', await this.#event(flow, '{"n":2}'));
    await until('its slot to be reserved', async () => {
      const { rows } = await pool.query('select 1 from outbox where delivery_id = $1', [waiting.deliveryId]);
      return rows.length === 1;
    });
    return { ...flow, ...waiting };
  }

  async down() {
    const flow = await this.#flow(
      'down',
      { retryPolicy: onceMore(5) },
      { circuitFailureThreshold: 1, circuitCooldownSeconds: CIRCUIT_COOLDOWN_S, circuitProbeSuccessThreshold: 1 },
    );
    const heldAfter = await this.#reached('circuit_open', await this.#event(flow, '{"n":1}'));
    return { ...flow, heldAfter, heldBefore: await this.#reached('circuit_open', await this.#event(flow, '{"n":2}')) };
  }

  /** Everything that may lie between a webhook and its destination. */
  async crm() {
    const secret = 'the-secret-of-a-source-of-this-state';
    const mailTo = 'team@ops.example';
    const filter = await this.#requests.make('/api/filters', {
      name: 'Paid',
      conditions: [{ field: 'payload.kind', operator: 'equals', value: 'paid' }],
    });
    const schema = await this.#requests.make('/api/schemas', {
      name: 'Order',
      schema: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
    });
    const transform = await this.#requests.make('/api/transforms', {
      name: 'To the CRM',
      type: 'jsonata',
      code: '{ "order": payload.id }',
    });
    const flow = await this.#flow(
      'crm',
      { authType: 'bearer', authConfig: { token: 'the-token-of-a-destination-of-this-state' } },
      {
        filterId: filter.id,
        schemaId: schema.id,
        transformId: transform.id,
        notifyEmails: mailTo,
        notifyOnSuccess: true,
        notifyOnFailure: true,
      },
      { verificationConfig: { type: 'github', secret } },
    );
    const body = '{"kind":"paid","id":"order-1"}';
    const eventId = await this.#event(flow, body, signed(body, secret));
    await this.#reached('delivered', eventId);
    return { ...flow, secret, eventId, mailTo };
  }

  async replay() {
    const from = await this.#source('stored');
    const eventIds: string[] = [];
    for (let n = 0; n < REPLAYED_EVENTS; n += 1) eventIds.push(await this.#event(from, `{"n":${n}}`));
    const to = await this.#destination('target', {});
    const routeId = (await this.#route('target', from, to)).id;
    const request = { sourceId: from.sourceId, ratePerSecond: 1 };
    const { id: replayId } = await this.#requests.make(`${this.#base}/events/replay`, request);
    await until('the replay to have begun', () => this.#endpoints.target.requests.length > 0);
    return { ...from, destinationId: to.id, routeId, replayId, eventIds };
  }
}

/** As GitHub signs. */
export function signed(body: string, secret: string): Record<string, string> {
  return { 'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
}
