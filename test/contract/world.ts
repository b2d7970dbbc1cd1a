// What the rows of the contract test share: processes, an organization, a receiver, and records that are made once.
import { expect } from 'chai';
import type { ApiClient, Json } from '../support/api-client.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { NotifiedRoutes } from '../support/notified-routes.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { Records } from '../support/records.ts';
import type { StoreServer } from '../support/object-stores.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { providerCases } from '../support/warehouse-targets.ts';

export const BODY = '{"order":{"id":42,"kind":"paid"}}';

/** Requests that show one or more rules of the interface. */
export interface Row {
  /** Begins with the ids of the rules: `ROUTE-04 ROUTE-35 another sourceId is refused`. */
  title: string;
  check: Check;
}
export type Check = (world: World) => Promise<unknown>;

export function rowsOf(checks: Record<string, Check>): Row[] {
  return Object.entries(checks).map(([title, check]) => ({ title, check }));
}

export class World {
  readonly testInstance: OwnHookyard;
  readonly records: Records;
  readonly receiver: Receiver;
  readonly #made = new Map<string, Promise<unknown>>();

  private constructor(testInstance: OwnHookyard, receiver: Receiver) {
    this.testInstance = testInstance;
    this.records = new Records(testInstance);
    this.receiver = receiver;
  }

  static async start(): Promise<World> {
    // Of its own, because tests after it want no worker on the shared database.
    const [testInstance, receiver] = await Promise.all([startHookyard(), startReceiver()]);
    await testInstance.startWorker();
    return new World(testInstance, receiver);
  }

  /** Starts an object store with a bucket. @returns the type of its destinations and a config that works */
  warehouse(): Promise<{ server: StoreServer; type: string; config: Json }> {
    return this.once('warehouse', async () => {
      const [provider] = providerCases;
      if (!provider) throw new Error('there is no provider');
      const server = await provider.start();
      await provider.prepare(server.url);
      return { server, type: provider.type, config: provider.config(server.url) };
    });
  }

  async close(): Promise<void> {
    // What could not be made has failed its row already.
    const made = async <T>(what: string) => (this.#made.get(what) as Promise<T> | undefined)?.catch(() => undefined);
    await (await made<NotifiedRoutes>('notified'))?.close();
    await (await made<{ server: StoreServer }>('warehouse'))?.server.stop();
    await Promise.all([this.testInstance.close(), this.receiver.close()]);
  }

  /** The API with the key of a business organization. */
  get api(): ApiClient {
    return this.testInstance.client;
  }
  /** The path of its organization-scoped family. */
  get base(): string {
    return this.testInstance.base;
  }

  /** Something that several rows only look at. */
  once<T>(what: string, make: () => Promise<T>): Promise<T> {
    const made = (this.#made.get(what) as Promise<T> | undefined) ?? make();
    this.#made.set(what, made);
    return made;
  }

  /** Another organization, without records. */
  organization(plan: 'free' | 'pro' | 'business' = 'business'): Promise<TestOrganization> {
    return createOrganization({ plan, service: this.testInstance.api, pool: this.testInstance.pool });
  }

  source(fields: Json = {}): Promise<Json & { id: string; slug: string; webhookUrl: string }> {
    return this.records.source(fields) as never;
  }
  /** A destination of which only what is required was given, and `fields`. */
  destination(fields: Json = {}): Promise<Json & { id: string }> {
    return this.api.create('/api/destinations', { name: 'CRM', url: 'https://receiver.example/hooks', ...fields });
  }
  /** A route of which only what is required was given, and `fields`. */
  async route(fields: Json = {}): Promise<Json & { id: string; sourceId: string; destinationIds: string[] }> {
    const [source, destination] = await Promise.all([this.source(), this.destination()]);
    const required = { name: 'Orders to CRM', sourceId: source.id, destinationIds: [destination.id] };
    return this.api.create('/api/routes', { ...required, ...fields });
  }

  /** A new source, a route and a destination that answers with this status. */
  pipe(status = 200, fields: Parameters<Records['pipe']>[1] = {}) {
    const endpoint = this.receiver.endpoint(status);
    return this.records.pipe(endpoint.url, fields).then((made) => ({ ...made, endpoint }));
  }
  /** An event that was delivered, for rows that only look. */
  delivered() {
    return this.once('delivered', () => this.deliver());
  }
  /** An event whose only delivery failed, for rows that only look. */
  failed() {
    return this.once('failed', () => this.deliver(500, 'failed'));
  }
  /** Sends a new event through a new route and waits for its end. */
  async deliver(status = 200, ending = 'delivered', fields: Parameters<Records['pipe']>[1] = {}) {
    const made = await this.pipe(status, fields);
    const eventId = await this.records.accepted(made.source, BODY);
    const delivery = await this.records.deliveryWith(ending, eventId);
    return { ...made, eventId, delivery, path: `${this.base}/events/${eventId}` };
  }
  /** Routes that tell by mail, on processes of their own. */
  notified(): Promise<NotifiedRoutes> {
    return this.once('notified', () => NotifiedRoutes.start());
  }
}

// HTTP-08
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export function expectTimestamps(record: object, ...members: string[]): void {
  for (const member of members)
    expect((record as Json)[member], member)
      .to.be.a('string')
      .and.match(TIMESTAMP);
}

export function expectIntegers(record: object, ...members: string[]): void {
  for (const member of members) expect(Number.isInteger((record as Json)[member]), member).to.equal(true);
}

/** A member that is required: left out it is 400, and so is another type. */
export async function expectRequired(api: ApiClient, path: string, body: Json, member: string): Promise<void> {
  const { [member]: _left, ...without } = body;
  for (const sent of [without, { ...body, [member]: 5 }]) {
    const answer = await api.request('POST', path, sent);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(400);
    expect(answer.body.error).to.equal('Bad Request');
    expect(answer.body.message).to.include(member);
  }
}

/** Values that a member takes, and values that are refused with 400. */
export async function expectTakes(
  api: ApiClient,
  path: string,
  body: Json,
  member: string,
  good: unknown[],
  bad: unknown[],
): Promise<void> {
  for (const value of good) {
    const answer = await api.request('POST', path, { ...body, [member]: value });
    expect(answer.status, `${member} ${JSON.stringify(value)}: ${JSON.stringify(answer.body)}`).to.equal(201);
    expect(answer.body[member], member).to.deep.equal(value);
  }
  for (const value of bad) {
    const answer = await api.request('POST', path, { ...body, [member]: value });
    expect(answer.status, `${member} ${JSON.stringify(value)}: ${JSON.stringify(answer.body)}`).to.equal(400);
  }
}
