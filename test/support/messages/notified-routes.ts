// Routes that notify: a Hookyard of its own with a mail server, routes with an address each, and what is noted for
// them.
import type { WorkflowHandle } from '@temporalio/client';
import { type MailServer, type ReceivedMail, startMailServer } from './mail-server.ts';
import type { Endpoint } from '../receiver.ts';
import { onceMore } from '../records.ts';
import { until } from '../until.ts';
import { useHookyard } from '../use-hookyard.ts';
import { execute, findValue, selectRows, selectValue } from '../database/sql.ts';

export const FROM = 'hookyard@sender.example';
export const BODY = '{"secretOrder":42}';

export type Kind = 'failure' | 'recovery' | 'success';

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

/** A Hookyard of its own with a mail server, for the tests of this `describe`. */
export function useNotifiedRoutes() {
  let server: MailServer;
  let made = 0;
  const { testInstance, records, receiver } = useHookyard({});
  before(async () => {
    server = await startMailServer();
    await startWorker();
  });
  after(() => server?.close());

  const startWorker = () =>
    testInstance.startWorker({
      SMTP_URL: server.url,
      HOOKYARD_NOTIFY_FROM: FROM,
      HOOKYARD_SHUTDOWN_SECONDS: '2',
      tuning: { issueRecoverySeconds: 1 },
      HOOKYARD_PUBLIC_URL: 'https://hooks.example',
      TEMPORAL_UI_URL: 'https://temporal.example',
    });

  /** The mail server is away; @returns how it comes back, with what it had received before */
  async function takeServerAway(): Promise<() => Promise<void>> {
    const { port, mails } = server;
    await server.close();
    return async () => {
      server = await startMailServer({ port, mails });
    };
  }

  /** Makes a route. @param notify its members about notifications */
  async function telling(endpoint: Endpoint, notify: Record<string, unknown>, retries = 0, retryDelayMs = 10) {
    made += 1;
    const address = `team-${made}@ops.example`;
    const { route, source } = await records.pipe(endpoint.url, {
      destination: { retryPolicy: onceMore(retries, retryDelayMs) },
      route: { notifyEmails: address, ...notify },
    });
    return {
      route,
      source,
      /** What its address has received. */
      mails: () => mailsTo(address),
      /** Sends an event through it and waits for what becomes of it. @returns the event's id */
      async deliver(status: 'delivered' | 'failed') {
        const eventId = await records.accepted(source, BODY);
        await records.eventWith(status, eventId);
        return eventId;
      },
    };
  }

  const mailsTo = (address: string) => server.mails.filter(({ to }) => to.includes(address));

  /** What waits for a route; undefined when nothing was noted lately. */
  async function waiting(routeId: string, kind: Kind): Promise<Waiting | undefined> {
    const rows = await selectRows<Waiting>(testInstance.pool)`
      select coalesce(sum(count) filter (where content is null and facts is not null), 0)::int as count,
             round(extract(epoch from min(due_at - since) filter (where content is null)))::int as waits,
             round(extract(epoch from min(due_at) filter (where content is null) - max(sent_at)))::int as quiet,
             coalesce(bool_or(content is not null and sent_at is null), false) as "isSending"
      from messages where route_id = ${routeId} and kind = ${kind}
      and (content is not null or facts is not null) having count(*) > 0`;
    return rows[0];
  }

  /** How many mails of a route have failed in a row, as issues count them. */
  const failedMails = async (routeId: string) =>
    (await findValue<number>(testInstance.pool)`select failures::int from issue_streaks
      where kind = 'notification_failing' and route_id = ${routeId}`) ?? 0;

  /** How many rows of messages a route has. */
  const written = (routeId: string) =>
    selectValue<number>(testInstance.pool)`select count(*)::int from messages where route_id = ${routeId}`;

  /** Waits until a mail is done with, sent or given up. */
  const finished = (routeId: string, kind: Kind) =>
    until(`the ${kind} mail of ${routeId} to be finished`, async () => {
      const left = await waiting(routeId, kind);
      return left !== undefined && !left.isSending;
    });

  /** Makes due what waits for a route. */
  const letTimePass = (routeId: string, kind: Kind) =>
    execute(testInstance.pool)`
      update messages set due_at = now(), sent_at = sent_at - interval '5 minutes', since = since - interval '5 minutes'
      where route_id = ${routeId} and kind = ${kind}`;

  /** The workflow that sends the mail of a kind that a route has had last. */
  const workflow = (routeId: string, kind: Kind): Promise<WorkflowHandle> =>
    until(`the ${kind} mail of ${routeId}`, async () => {
      const rows = await selectRows<{ id: string }>(testInstance.pool)`select id from messages
        where route_id = ${routeId} and kind = ${kind} and content is not null order by created_at desc limit 1`;
      return rows[0] && testInstance.temporal.workflow.getHandle(`message:${rows[0].id}`);
    });

  return {
    ...{ testInstance, records, receiver, startWorker, takeServerAway, telling, mailsTo },
    ...{ waiting, failedMails, written, finished, letTimePass, workflow },
    get server() {
      return server;
    },
  };
}

export function firstMail(mails: () => ReceivedMail[]): Promise<ReceivedMail> {
  return until('a mail', () => mails()[0]);
}
