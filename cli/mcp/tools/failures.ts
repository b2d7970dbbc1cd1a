// What failed, since when, and why: the first question of most conversations.
import { z } from 'zod';
import type { Delivery, Issue } from '../../../client/index.ts';
import { plural } from '../../../core/text/words.ts';
import { cell } from '../../output.ts';
import { shortText, tool, inputs, isoTime, membersOf } from '../tool.ts';

/** What did not arrive, or has not yet after a failure or because it is held. */
const STATUSES = ['failed', 'schema_failed', 'filter_failed', 'retrying', 'circuit_open'] as const;
const MOST_DELIVERIES = 1000;
const MOST_ISSUES = 300;
const NAMED_IN_SUMMARY = 3;

export const listFailures = tool({
  name: 'list_failures',
  title: 'List failures and their causes',
  description:
    'Start here when webhooks did not arrive. Finds the deliveries created since a given time that have failed, are being retried or are held, and groups them by ' +
    'route, destination and cause (the status code or error). Each group has its newest delivery as a sample. Also lists the issues that had failures ' +
    "in this time, with their states and when they started. Webhooks that a source refused appear as issues. Use get_delivery to see a destination's response.",
  input: z.strictObject({
    since: inputs.since.unwrap().default('24h'),
    source: inputs.source,
    route: inputs.route,
    destination: inputs.destination,
    limit: inputs.limit.describe('Maximum number of groups, and of issues'),
  }),
  more: 'Pass a route or destination, a later "since" or a smaller limit.',
  async run({ client }, { limit, ...args }) {
    const since = isoTime(args.since);
    const { from: _since, ...places } = await membersOf(client, args);
    const failures = client.each('listDeliveries', { ...places, from: since, status: [...STATUSES] });
    const deliveries = await firstOf(failures, MOST_DELIVERIES);
    const groups = grouped(deliveries);
    const newest = await firstOf(client.each('listIssues', places), MOST_ISSUES);
    const issues = newest.filter(({ lastSeenAt }) => lastSeenAt >= since);
    const isComplete = deliveries.length < MOST_DELIVERIES;
    return {
      summary: summaryOf(since, deliveries.length, isComplete, groups, issues),
      data: {
        since,
        deliveries: deliveries.length,
        isComplete,
        groups: groups.slice(0, limit),
        issues: issues.slice(0, limit),
      },
    };
  },
});

async function firstOf<Item>(items: AsyncIterable<Item>, most: number): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) {
    found.push(item);
    if (found.length === most) break;
  }
  return found;
}

interface Group extends Record<string, unknown> {
  route: Delivery['route'];
  destination: Delivery['destination'];
  cause: string;
  count: number;
  statuses: Partial<Record<Delivery['status'], number>>;
  firstAt: string;
  lastAt: string;
  error: string | null;
  sample: Pick<Delivery, 'eventId' | 'status' | 'attemptCount' | 'nextAttemptAt'> & { deliveryId: string };
}

/** @param deliveries the newest first */
function grouped(deliveries: Delivery[]): Group[] {
  const groups = new Map<string, Group>();
  for (const delivery of deliveries) {
    const cause = causeOf(delivery);
    const key = JSON.stringify([delivery.routeId, delivery.destinationId, cause]);
    const group = groups.get(key) ?? groupOf(delivery, cause);
    groups.set(key, group);
    group.count += 1;
    group.statuses[delivery.status] = (group.statuses[delivery.status] ?? 0) + 1;
    group.firstAt = delivery.createdAt;
  }
  return [...groups.values()].sort((one, other) => other.count - one.count);
}

/** As issues name it where there was an answer. */
function causeOf({ statusCode, error, holdReason, status }: Delivery): string {
  return statusCode === null ? shortText(error ?? holdReason ?? status, 200) : `HTTP_${statusCode}`;
}

function groupOf(delivery: Delivery, cause: string): Group {
  const { id: deliveryId, eventId, status, attemptCount, nextAttemptAt } = delivery;
  const { route, destination, createdAt, error } = delivery;
  const sample = { deliveryId, eventId, status, attemptCount, nextAttemptAt };
  return { route, destination, cause, count: 0, statuses: {}, firstAt: createdAt, lastAt: createdAt, error, sample };
}

function summaryOf(since: string, count: number, isComplete: boolean, groups: Group[], issues: Issue[]): string {
  if (count === 0 && issues.length === 0) return `Nothing has failed since ${since}.`;
  const happened = `created since ${since} ${count === 1 ? 'has' : 'have'} failed or not arrived yet`;
  const lines = [
    `${isComplete ? '' : 'At least '}${plural(count, 'delivery')} ${happened} (${plural(groups.length, 'group')}).`,
  ];
  for (const group of groups.slice(0, NAMED_IN_SUMMARY)) {
    const { route, destination, cause, sample } = group;
    lines.push(
      cell(
        `${group.count} x ${cause}: ${route ? `route ${route.name}` : 'no route'}, destination ${destination.name} (newest: ${sample.deliveryId})`,
      ),
    );
  }
  const lasting = issues.filter(({ state }) => state === 'open' || state === 'acknowledged').length;
  lines.push(
    `${plural(issues.length, 'issue has', 'issues have')} had failures since then; ${plural(lasting, 'is', 'are')} open or acknowledged.`,
  );
  return lines.join('\n');
}
