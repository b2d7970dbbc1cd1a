// Bookkeeping for fault tests: what was acknowledged must arrive at least once, and what arrives twice is recognisable.
import { expect } from 'chai';
import type { Endpoint } from '../receiver.ts';
import type { Records, SourceView } from '../records.ts';
import { until } from '../until.ts';

export class Ledger {
  /** Ids of the events that were answered with 200, with their bodies. */
  readonly acknowledged = new Map<string, string>();
  readonly #records: Records;
  readonly #source: SourceView;
  readonly #endpoint: Endpoint;
  #sent = 0;

  constructor(records: Records, source: SourceView, endpoint: Endpoint) {
    this.#records = records;
    this.#source = source;
    this.#endpoint = endpoint;
  }

  /**
   * Sends the next webhook and notes it when it is acknowledged.
   * @returns the answer; null when the connection broke
   */
  async post() {
    this.#sent += 1;
    const body = JSON.stringify({ n: this.#sent });
    const answer = await this.#records.post(this.#source, body).catch(() => null);
    if (answer?.status === 200) this.acknowledged.set(answer.body.eventId, body);
    return answer;
  }

  /** Sends the next webhook, which must be acknowledged. @returns the event's id */
  async accepted(): Promise<string> {
    const answer = await this.post();
    expect(answer?.status).to.equal(200);
    return answer?.body.eventId ?? '';
  }

  /**
   * Waits until every acknowledged event has arrived with its own body and is recorded as delivered, and checks that
   * repeats carry the ids of the first.
   */
  async settle(deadlineMs: number): Promise<void> {
    await until(
      'all acknowledged events to arrive',
      () => {
        const missing = [...this.acknowledged.keys()].filter((eventId) => this.#arrivals(eventId).length === 0);
        if (missing.length > 0) throw new Error(`${missing.length} are missing, first ${missing[0]}`);
        return true;
      },
      deadlineMs,
    );
    for (const [eventId, body] of this.acknowledged) {
      const arrivals = this.#arrivals(eventId);
      expect(new Set(arrivals.map((request) => request.headers['x-hookyard-delivery-id'])).size).to.equal(1);
      expect(new Set(arrivals.map((request) => request.body.toString()))).to.deep.equal(new Set([body]));
    }
    await until('them to be recorded as delivered', async () => {
      const delivered = await this.#records.idsOfEvents(this.#source, 'delivered');
      const missing = [...this.acknowledged.keys()].filter((eventId) => !delivered.has(eventId));
      if (missing.length > 0) throw new Error(`${missing.length} are not, first ${missing[0]}`);
      return true;
    });
    await until('the outbox to be empty', async () => (await this.#records.queued()) === 0, deadlineMs);
  }

  /** How many requests brought the event. */
  arrivals(eventId: string): number {
    return this.#arrivals(eventId).length;
  }

  #arrivals(eventId: string) {
    return this.#endpoint.requests.filter((request) => request.headers['x-hookyard-event-id'] === eventId);
  }
}
