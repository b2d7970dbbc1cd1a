// Routes that notify: a Hookyard of its own with a mail server, routes with an address each, and what is noted for
// them.
import type { WorkflowHandle } from '@temporalio/client';
import { type OwnHookyard, startHookyard } from '../hookyard.ts';
import { type MailServer, type ReceivedMail, startMailServer } from './mail-server.ts';
import { type Endpoint, type Receiver, startReceiver } from '../receiver.ts';
import { onceMore, Records, type RouteView, type SourceView } from '../records.ts';
import type { Service } from '../service.ts';
import { until } from '../until.ts';
import { execute, findValue, selectRows, selectValue } from '../database/sql.ts';

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

/** What waits for the next mail; times in seconds. */
export interface Waiting {
  /** Deliveries in drafts. */
  count: number;
  /** From the first of them to the mail. */
  waits: number | null;
  /** From the last mail to the next. */
  quiet: number | null;
  /** Whether a mail is being sent. */
  isSending: boolean;
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

  /** What waits for a route; undefined when nothing was noted lately. */
  async waiting(routeId: string, kind: Kind): Promise<Waiting | undefined> {
    const rows = await selectRows<Waiting>(this.testInstance.pool)`
      select coalesce(sum(count) filter (where content is null and facts is not null), 0)::int as count,
             round(extract(epoch from min(due_at - since) filter (where content is null)))::int as waits,
             round(extract(epoch from min(due_at) filter (where content is null) - max(sent_at)))::int as quiet,
             coalesce(bool_or(content is not null and sent_at is null), false) as "isSending"
      from messages where route_id = ${routeId} and kind = ${kind}
      and (content is not null or facts is not null) having count(*) > 0`;
    return rows[0];
  }

  /** How many mails of a route have failed in a row, as issues count them. */
  async failedMails(routeId: string): Promise<number> {
    return (
      (await findValue<number>(this.testInstance.pool)`select failures::int from issue_streaks
        where kind = 'notification_failing' and route_id = ${routeId}`) ?? 0
    );
  }

  /** How many rows of messages a route has. */
  written(routeId: string): Promise<number> {
    return selectValue<number>(this.testInstance.pool)`select count(*)::int as count from messages
      where route_id = ${routeId}`;
  }

  /** Waits until a mail is done with, sent or given up. */
  finished(routeId: string, kind: Kind): Promise<true> {
    return until(`the ${kind} mail of ${routeId} to be finished`, async () => {
      const waiting = await this.waiting(routeId, kind);
      return waiting !== undefined && !waiting.isSending;
    });
  }

  /** Makes due what waits for a route. */
  async letTimePass(routeId: string, kind: Kind): Promise<void> {
    await execute(this.testInstance.pool)`
      update messages set due_at = now(), sent_at = sent_at - interval '5 minutes', since = since - interval '5 minutes'
      where route_id = ${routeId} and kind = ${kind}`;
  }

  /** The workflow that sends the mail of a kind that a route has had last. */
  workflow(routeId: string, kind: Kind): Promise<WorkflowHandle> {
    return until(`the ${kind} mail of ${routeId}`, async () => {
      const rows = await selectRows<{ id: string }>(this.testInstance.pool)`select id from messages
        where route_id = ${routeId} and kind = ${kind} and content is not null order by created_at desc limit 1`;
      return rows[0] && this.testInstance.temporal.workflow.getHandle(`message:${rows[0].id}`);
    });
  }
}

export function firstMail(mails: () => ReceivedMail[]): Promise<ReceivedMail> {
  return until('a mail', () => mails()[0]);
}
