// Addresses that routes and alert channels notify: who has agreed, and asking once more.
import { z } from 'zod';
import { isOfDomain, mayReceive, recipients } from '../../../core/messages/route-mails.ts';
import { plural } from '../../../core/text/words.ts';
import {
  askAgain,
  confirmedAddresses,
  findRecipient,
  listRecipients,
  type Recipient,
  waitingRecipients,
} from '../../../db/messages/recipients.ts';
import { inTransaction } from '../../../db/connections/pool.ts';
import { type ApiDeps, type Context, organizationId } from '../../request/context.ts';
import { conflict, invalid, missing, rateLimited } from '../../request/errors.ts';
import { component, flag, listOf, text, timestamp } from '../values.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { limitOf, listAnswer, pageParams } from '../../request/query.ts';

/** Of one organization; about 30 an hour are asked. */
const MAX_WAITING = 1000;

const recipientAnswer = component('NotificationRecipient', {
  address: text('ops@example.com', 'The email address, in lowercase.'),
  confirmedAt: timestamp.nullable().describe('When the owner confirmed the address. Null if unconfirmed.'),
  askedAt: timestamp.nullable().describe('When the last confirmation email was sent.'),
  refused: flag(false, 'Whether the owner has unsubscribed. If so, confirmation is not requested again.'),
});

export const notificationRecipientOperations: Operation[] = [
  operation('listNotificationRecipients', 'get', '/api/notification-recipients', {
    tag: 'Routes',
    summary: 'List notification recipients',
    description:
      'If the operator requires confirmation, an address receives notifications only after its owner has confirmed it.',
    query: z.object(pageParams),
    answer: {
      description: 'One page, ordered by address.',
      schema: listOf(recipientAnswer),
    },
    async run(ctx, { query }) {
      const [found, total] = await listRecipients(ctx.deps.pool, organizationId(ctx), limitOf(query));
      return listAnswer(found.map(show), total, query);
    },
  }),
  operation('resendConfirmation', 'post', '/api/notification-recipients/resend', {
    tag: 'Routes',
    summary: 'Resend the confirmation email to a recipient',
    description:
      'Allowed from one hour after the first email; the wait doubles each time, up to a week. No email is sent to confirmed addresses, or if the operator does not require confirmation.',
    body: { schema: z.object({ address: z.email().max(320) }), examples: { plain: { address: 'ops@example.com' } } },
    answer: { description: 'The recipient. `askedAt` is updated when the new email is sent.', schema: recipientAnswer },
    errors: { 404: ['RESOURCE_NOT_FOUND'], 409: ['INVALID_STATE'], 429: ['RATE_LIMITED'] },
    async run(ctx, { body }) {
      const asked = body.address.toLowerCase();
      const found = await findRecipient(ctx.deps.pool, organizationId(ctx), asked);
      if (!found)
        throw missing(`No route or alert channel in this organization notifies ${asked}; add the address to one first`);
      if (found.refused) throw conflict(`The owner of ${asked} has unsubscribed; only the owner can change that`);
      if (found.confirmedAt === null && found.waitSeconds > 0)
        throw rateLimited(
          `The last confirmation email to ${asked} was sent at ${found.askedAt?.toISOString()}; wait ${plural(found.waitSeconds, 'second')}`,
          found.waitSeconds,
        );
      if (found.confirmedAt === null) {
        await inTransaction(ctx.deps.pool, (db) => askAgain(db, organizationId(ctx), asked));
      }
      return show(found);
    },
  }),
];

function show({ address, confirmedAt, askedAt, refused }: Recipient) {
  return { address, confirmedAt, askedAt, refused };
}

/**
 * Refuses addresses of domains that the operator does not accept, and where owners must agree, more than can be asked
 * in a day or two.
 * @param notifyEmails of one route, or of several, separated by commas
 * @param member that holds them
 * @throws ApiError 400
 */
export async function requireRecipients(
  ctx: Context,
  notifyEmails: string | null | undefined,
  member = 'notifyEmails',
): Promise<void> {
  if (!notifyEmails) return;
  const problem = domainProblem(ctx.deps, notifyEmails);
  if (problem !== undefined) throw invalid(member, problem);
  if (ctx.deps.recipientRule() !== 'confirmed') return;
  const addresses = recipients(notifyEmails).map((each) => each.toLowerCase());
  await requireRoom(ctx, [...new Set(addresses)], member);
}

/** What is wrong with the routes of a file: one message for each whose addresses the operator does not accept. */
export function domainProblems(
  deps: Rule,
  routes: readonly { label: string; notifyEmails?: string | null }[],
): string[] {
  return routes.flatMap(({ label, notifyEmails }) => {
    const problem = domainProblem(deps, notifyEmails);
    return problem === undefined ? [] : `${label}: notifyEmails ${problem}`;
  });
}

type Rule = Pick<ApiDeps, 'recipientRule'>;

function domainProblem({ recipientRule }: Rule, notifyEmails: string | null | undefined): string | undefined {
  const rule = recipientRule();
  if (rule === 'any' || rule === 'confirmed' || !notifyEmails) return undefined;
  const refused = recipients(notifyEmails).find((each) => !isOfDomain(each, rule));
  return refused === undefined
    ? undefined
    : `must contain only addresses at ${rule.join(', ')}; "${refused}" is not allowed`;
}

// Requests at the same time may each count before the other: the limit is approximate.
async function requireRoom(ctx: Context, addresses: string[], member: string): Promise<void> {
  const { waiting, added } = await waitingRecipients(ctx.deps.pool, organizationId(ctx), addresses, MAX_WAITING);
  if (added === 0 || waiting + added <= MAX_WAITING) return;
  throw invalid(
    member,
    `must not add ${plural(added, 'new address')}: an organization can have up to ${MAX_WAITING} addresses ` +
      `that have not been sent a confirmation email yet, and this one already has ${waiting}`,
  );
}

/** Those addresses of each route that get no mail at the moment. */
export async function withheldEmails(
  ctx: Context,
  routes: readonly { notifyEmails?: string | null | undefined }[],
): Promise<string[][]> {
  const rule = ctx.deps.recipientRule();
  const named = routes.map(({ notifyEmails }) => (notifyEmails ? recipients(notifyEmails) : []));
  const asked = [...new Set(named.flat().map((each) => each.toLowerCase()))];
  const confirmed =
    rule === 'confirmed' && asked.length > 0
      ? await confirmedAddresses(ctx.deps.pool, organizationId(ctx), asked)
      : new Set<string>();
  return named.map((addresses) => addresses.filter((each) => !mayReceive(rule, each, confirmed)));
}
