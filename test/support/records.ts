// The records of the management API as tests read them, and the shortest way to make a source, destination and route.
import { WorkflowNotFoundError } from '@temporalio/client';
import { newId } from '../../core/text/ids.ts';
import { type HttpAnswer, send } from './requests/http-client.ts';
import type { Hookyard } from './hookyard.ts';
import { selectValue } from './database/sql.ts';
import { until } from './until.ts';

export interface SourceView {
  id: string;
  slug: string;
  webhookUrl: string;
}

export interface DestinationView {
  id: string;
  slug: string;
  name: string;
}

export interface RouteView {
  id: string;
  destinationIds: string[];
}

export interface AttemptView {
  attemptNumber: number;
  status: string;
  statusCode: number | null;
  error: string | null;
  latency: number;
  requestHeaders: Record<string, string>;
  responseHeaders: Record<string, string> | null;
  responseBody: string | null;
  connection: { address: string; port: number; reused: boolean } | null;
}

export interface DeliveryView {
  id: string;
  eventId: string;
  routeId: string;
  destinationId: string;
  status: string;
  attemptCount: number;
  statusCode: number | null;
  error: string | null;
  latency: number | null;
  deliveredAt: string | null;
  nextAttemptAt: string | null;
  replayOf: string | null;
  failoverOf: string | null;
  holdReason: string | null;
  lane: string | null;
  batchId: string | null;
  temporalUrl: string | null;
  attempts: AttemptView[];
}

export interface EventView {
  id: string;
  sourceId: string;
  status: string;
  routed: boolean;
  headers: Record<string, string>;
  payload?: unknown;
  payloadEncoding?: string;
  payloadSize: number;
  payloadHash: string;
  deliveriesCount: number;
  deliveriesSucceeded: number;
  deliveriesFailed: number;
  deliveries?: DeliveryView[];
}

export interface Accepted {
  success: boolean;
  eventId: string;
  duplicate?: boolean;
}

/** Whether the tests run in the express lane (test/run.ts). */
export const inExpressLane = process.env.HOOKYARD_LANE === 'express';
/** Whether a delivery may be made without a workflow: in the lane `adaptive` some are, on a busy machine. */
const relayMayAttempt = process.env.HOOKYARD_LANE !== 'workflow';

export const onceMore = (maxRetries: number, delay = 10) => ({
  maxRetries,
  initialDelay: delay,
  maxDelay: delay,
  backoffMultiplier: 1,
});

/** Makes records of a Hookyard and waits for what becomes of events. */
export class Records {
  readonly #testInstance: Hookyard;
  constructor(testInstance: Hookyard) {
    this.#testInstance = testInstance;
  }

  source(fields: Record<string, unknown> = {}): Promise<SourceView> {
    const slug = newId('src').slice(-20);
    return this.#testInstance.client.create(`${this.#testInstance.base}/sources`, { name: 'Orders', slug, ...fields });
  }

  destination(url: string, fields: Record<string, unknown> = {}): Promise<DestinationView> {
    const body = { name: 'CRM', url, retryPolicy: onceMore(0), ...fields };
    return this.#testInstance.client.create('/api/destinations', body);
  }

  route(sourceId: string, destinationIds: string[], fields: Record<string, unknown> = {}): Promise<RouteView> {
    const body = { name: 'Orders to CRM', sourceId, destinationIds, ...fields };
    return this.#testInstance.client.create('/api/routes', body);
  }

  /** A source with one route to one destination. */
  async pipe(
    url: string,
    fields: {
      source?: Record<string, unknown>;
      destination?: Record<string, unknown>;
      route?: Record<string, unknown>;
    } = {},
  ): Promise<{ source: SourceView; destination: DestinationView; route: RouteView }> {
    const [source, destination] = await Promise.all([
      this.source(fields.source),
      this.destination(url, fields.destination),
    ]);
    return { source, destination, route: await this.route(source.id, [destination.id], fields.route) };
  }

  /** Sends a body through a new pipe and waits for the end of its delivery. */
  async deliver(url: string, body: string, ending: string, fields: Parameters<Records['pipe']>[1] = {}) {
    const pipe = await this.pipe(url, fields);
    const eventId = await this.accepted(pipe.source, body);
    return { ...pipe, eventId, delivery: await this.deliveryWith(ending, eventId) };
  }

  /** Sends a webhook to the source as its provider would. */
  post(
    source: SourceView,
    body: string | Buffer,
    headers: Record<string, string | string[]> = { 'content-type': 'application/json' },
    method = 'POST',
  ): Promise<HttpAnswer<Accepted>> {
    // webhookUrl names localhost, the API listens on 127.0.0.1 only; and after a restart it has another port.
    const { pathname } = new URL(source.webhookUrl);
    return send<Accepted>(method, `${this.#testInstance.client.url}${pathname}`, headers, body);
  }

  /** Sends a webhook that must be accepted; returns the event's id. */
  async accepted(...request: Parameters<Records['post']>): Promise<string> {
    const answer = await this.post(...request);
    if (answer.status !== 200 || !answer.body.success) throw new Error(`${answer.status} ${answer.bytes.toString()}`);
    return answer.body.eventId;
  }

  event(id: string, query = 'includeDeliveries=true'): Promise<EventView> {
    return this.#testInstance.client.get(`${this.#testInstance.base}/events/${id}?${query}`);
  }

  /** Of all events of a source that have a status. */
  async idsOfEvents(source: SourceView, status: string): Promise<Set<string>> {
    const ids = new Set<string>();
    for (let page = 1; ; page += 1) {
      const path = `${this.#testInstance.base}/events?sourceId=${source.id}&status=${status}&pageSize=100&page=${page}`;
      const { data } = await this.#testInstance.client.list<EventView>(path);
      for (const { id } of data) ids.add(id);
      if (data.length < 100) return ids;
    }
  }

  delivery(id: string): Promise<DeliveryView> {
    return this.#testInstance.client.get(`/api/deliveries/${id}`);
  }

  /** The deliveries of an event, oldest first, each with its attempts. */
  async deliveries(eventId: string): Promise<DeliveryView[]> {
    const { data } = await this.#testInstance.client.list<DeliveryView>(`/api/deliveries?eventId=${eventId}`);
    return Promise.all(data.toReversed().map(({ id }) => this.delivery(id)));
  }

  /** Waits until the event has a status; returns it with its deliveries. */
  async eventWith(status: string, eventId: string): Promise<EventView> {
    return until(`event ${eventId} to be ${status}`, async () => {
      const event = await this.event(eventId);
      if (event.status !== status) throw new Error(`it is ${event.status}`);
      return event;
    });
  }

  /** Waits until the only delivery of the event has a status; returns it with its attempts. */
  async deliveryWith(status: string, eventId: string): Promise<DeliveryView> {
    return until(`the delivery of ${eventId} to be ${status}`, async () => {
      const { data } = await this.#testInstance.client.list<DeliveryView>(`/api/deliveries?eventId=${eventId}`);
      const listed = data.at(-1);
      // Its attempts are read when it is time.
      const delivery = listed?.status === status ? await this.delivery(listed.id) : listed;
      if (delivery?.status !== status) throw new Error(`it is ${delivery?.status} (${delivery?.error})`);
      return delivery;
    });
  }

  /** Waits until no workflow of these deliveries runs. In other lanes than `workflow` there may have been none. */
  async workflowsEnd(deliveryIds: string[]): Promise<void> {
    await until('the workflows to end', async () => {
      for (const id of deliveryIds) {
        if ((await this.workflowStatus(id)) === 'RUNNING') throw new Error(`${id} is still running`);
      }
      return true;
    });
  }

  /** The status of a delivery's workflow; null when there is none, which the lane `workflow` does not allow. */
  async workflowStatus(deliveryId: string): Promise<string | null> {
    try {
      return (await this.#testInstance.temporal.workflow.getHandle(deliveryId).describe()).status.name;
    } catch (error) {
      if (relayMayAttempt && error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
  }

  /** Rows that wait for a first attempt. */
  queued(): Promise<number> {
    const { pool, organizationId } = this.#testInstance;
    return selectValue<number>(pool)`select count(*) from outbox where organization_id = ${organizationId}`;
  }

  /** Events stored for a source, read past the API. */
  storedEvents(sourceId: string): Promise<number> {
    return selectValue<number>(this.#testInstance.pool)`select count(*) from events where source_id = ${sourceId}`;
  }
}
