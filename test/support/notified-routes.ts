// Routes that notify: a Hookyard of its own with a mail server, routes with an address each, and what is noted for them.
import type { WorkflowHandle } from '@temporalio/client';
import { type OwnHookyard, startHookyard } from './hookyard.ts';
import { type MailServer, type ReceivedMail, startMailServer } from './mail-server.ts';
import { type Endpoint, type Receiver, startReceiver } from './receiver.ts';
import { onceMore, Records, type RouteView, type SourceView } from './records.ts';
import type { Service } from './service.ts';
import { until } from './until.ts';

export const FROM = 'hookyard@sender.example';
export const BODY = '{"secretOrder":42}';

export type Kind = 'failure' | 'recovery' | 'success';

/** A route that notifies its own address. */
export interface NotifiedRoute {
  route: RouteView;
  source: SourceView;
  /** What its address has received. */
  mails(): ReceivedMail[];
  /** Sends an event through it and waits for what becomes of it. @returns the event's id */
  deliver(status: 'delivered' | 'failed'): Promise<string>;
}

/** Pending notifications; times in seconds. */
export interface Waiting {
  count: number;
  /** From the first notified delivery to the mail. */
  waits: number | null;
  /** From the last mail to the next. */
  quiet: number | null;
  mail: unknown;
}

export class NotifiedRoutes {
  readonly testInstance: OwnHookyard;
  readonly records: Records;
  readonly receiver: Receiver;
  server: MailServer;
  #count = 0;

  private constructor(testInstance: OwnHookyard, receiver: Receiver, server: MailServer) {
    this.testInstance = testInstance;
    this.records = new Records(testInstance);
    this.receiver = receiver;
    this.server = server;
  }

  static async start(): Promise<NotifiedRoutes> {
    const [testInstance, receiver, server] = await Promise.all([startHookyard(), startReceiver(), startMailServer()]);
    const routes = new NotifiedRoutes(testInstance, receiver, server);
    await routes.startWorker();
    return routes;
  }

  async close(): Promise<void> {
    await this.testInstance.close();
    await Promise.all([this.receiver.close(), this.server.close()]);
  }

  startWorker(): Promise<Service> {
    return this.testInstance.startWorker({
      SMTP_URL: this.server.url,
      HOOKYARD_NOTIFY_FROM: FROM,
      HOOKYARD_SHUTDOWN_SECONDS: '2',
      tuning: { issueRecoverySeconds: 1 },
      HOOKYARD_PUBLIC_URL: 'https://hooks.example',
      TEMPORAL_UI_URL: 'https://temporal.example',
    });
  }

  /** The mail server is away; @returns how it comes back, with what it had received before */
  async takeServerAway(): Promise<() => Promise<void>> {
    const { port, mails } = this.server;
    await this.server.close();
    return async () => {
      this.server = await startMailServer({ port, mails });
    };
  }

  /** Makes a route. @param notify its members about notifications */
  async telling(
    endpoint: Endpoint,
    notify: Record<string, unknown>,
    retries = 0,
    retryDelayMs = 10,
  ): Promise<NotifiedRoute> {
    this.#count += 1;
    const address = `team-${this.#count}@ops.example`;
    const { route, source } = await this.records.pipe(endpoint.url, {
      destination: { retryPolicy: onceMore(retries, retryDelayMs) },
      route: { notifyEmails: address, ...notify },
    });
    return {
      route,
      source,
      mails: () => this.mailsTo(address),
      deliver: async (status) => {
        const eventId = await this.records.accepted(source, BODY);
        await this.records.eventWith(status, eventId);
        return eventId;
      },
    };
  }

  mailsTo(address: string): ReceivedMail[] {
    return this.server.mails.filter(({ to }) => to.includes(address));
  }

  /** What waits for a route; undefined when nothing was ever noted. */
  async waiting(routeId: string, kind: Kind): Promise<Waiting | undefined> {
    const { rows } = await this.testInstance.pool.query<Waiting>(
      `select count, mail, round(extract(epoch from due_at - since))::int as waits,
              round(extract(epoch from due_at - sent_at))::int as quiet
       from route_notifications where route_id = $1 and kind = $2`,
      [routeId, kind],
    );
    return rows[0];
  }

  /** How many mails of a route have failed in a row, as issues count them. */
  async failedMails(routeId: string): Promise<number> {
    const { rows } = await this.testInstance.pool.query<{ failures: number }>(
      `select failures::int from issue_streaks where kind = 'notification_failing' and route_id = $1`,
      [routeId],
    );
    return rows[0]?.failures ?? 0;
  }

  /** How many rows a route has in both tables. */
  async written(routeId: string): Promise<number> {
    const { rows } = await this.testInstance.pool.query<{ count: number }>(
      `select (select count(*) from route_notifications where route_id = $1)
            + (select count(*) from failing_destinations where route_id = $1) as count`,
      [routeId],
    );
    return rows[0]?.count ?? -1;
  }

  /** Waits until a mail is done with, sent or given up. */
  finished(routeId: string, kind: Kind): Promise<true> {
    return until(
      `the ${kind} mail of ${routeId} to be finished`,
      async () => (await this.waiting(routeId, kind))?.mail === null,
    );
  }

  /** Makes due what waits for a route. */
  async letTimePass(routeId: string, kind: Kind): Promise<void> {
    await this.testInstance.pool.query(
      'update route_notifications set due_at = now() where route_id = $1 and kind = $2',
      [routeId, kind],
    );
  }

  /** The workflow that sends a route's mails of a kind. */
  workflow(routeId: string, kind: Kind): WorkflowHandle {
    return this.testInstance.temporal.workflow.getHandle(`notify:${routeId}:${kind}`);
  }
}

export function firstMail(mails: () => ReceivedMail[]): Promise<ReceivedMail> {
  return until('a mail', () => mails()[0]);
}
