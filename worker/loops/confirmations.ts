// Asks the owners of addresses whether they want notifications, while HOOKYARD_NOTIFY_RECIPIENTS demands it.
import { randomUUID } from 'node:crypto';
import { CONFIRM_WITHIN_MS, renderConfirmation } from '../../core/messages/mail.ts';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import type { RecipientRule } from '../../core/messages/route-mails.ts';
import { every, type PollLoop } from '../../core/process/poll-loop.ts';
import {
  type Asked,
  type Claim,
  claimRecipients,
  forgetUnnamed,
  noteAsked,
  withNeverAsked,
} from '../../db/messages/recipients.ts';
import { sealConfirmation, type SecretBox } from '../../db/encryption/secret-box.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { MailError, type Mailer } from '../../outbound/mail.ts';
import type { DuePart } from './due.ts';

const EVERY_MS = 2000;
const MAX_PER_ROUND = 10;
const FORGET_EVERY_MS = 30_000;
const MAX_FORGETTING = 50;

export interface ConfirmationDeps {
  pool: Pool;
  secretBox: SecretBox;
  smtp: { mailer: Mailer; from: string };
  recipientRule: () => RecipientRule;
  publicUrl: string;
  log: Log;
}

/**
 * Failure policy: a mail that cannot be sent is tried again after five minutes; one that is refused for good is not.
 */
export function dueConfirmations(deps: ConfirmationDeps): DuePart {
  const ending = Promise.withResolvers<void>();
  const isOn = () => deps.recipientRule() === 'confirmed';
  const forgetting = startForgetting(deps, isOn);
  return {
    what: 'confirmation emails',
    kinds: ['recipients'],
    everyMs: () => EVERY_MS,
    isOn,
    async round() {
      const claims = Map.groupBy(await claimRecipients(deps.pool, MAX_PER_ROUND), (each) => each.organizationId);
      const asking = Array.from(claims, ([organizationId, mine]) => askNamed(deps, organizationId, mine));
      // A worker that ends does not wait for a silent mail server; another one sends the mail again.
      await Promise.race([Promise.all(asking), ending.promise]);
      return null;
    },
    async stop() {
      ending.resolve();
      await forgetting.stop();
    },
  };
}

/**
 * Removes now and then addresses that nobody names any more. However long that takes, nobody who is to be asked waits
 * for it.
 */
function startForgetting(deps: ConfirmationDeps, isOn: () => boolean): PollLoop {
  let last = '';
  const keep = (error: unknown) =>
    deps.log.warn({ cause: causeOf(error) }, 'failed to remove recipients that no route or alert channel uses');
  async function forget(): Promise<void> {
    if (!isOn()) return;
    const ids = await withNeverAsked(deps.pool, last, MAX_FORGETTING);
    last = ids.length < MAX_FORGETTING ? '' : (ids.at(-1) ?? '');
    for (const id of ids) await forgetUnnamed(deps.pool, id, null).catch(keep);
  }
  return every(FORGET_EVERY_MS, forget, keep);
}

/**
 * Organization by organization: where the check fails, as with very many routes, the claims come back; others go on.
 */
async function askNamed(deps: ConfirmationDeps, organizationId: string, claims: Claim[]): Promise<void> {
  const first = claims.filter((each) => each.first);
  try {
    const forgotten = first.length > 0 ? await forgetUnnamed(deps.pool, organizationId, first) : [];
    await Promise.all(claims.filter(({ address }) => !forgotten.includes(address)).map((each) => ask(deps, each)));
  } catch (error) {
    const { log } = deps;
    log.warn(
      { organizationId, cause: causeOf(error) },
      "failed to send an organization's confirmation emails; trying again later",
    );
  }
}

async function ask(deps: ConfirmationDeps, asked: Asked): Promise<void> {
  const { smtp, log, publicUrl } = deps;
  const { organizationId, organization, address } = asked;
  const expiresAt = new Date(Date.now() + CONFIRM_WITHIN_MS);
  const token = sealConfirmation(deps.secretBox, {
    organizationId,
    organization,
    address,
    expiresAt: expiresAt.getTime(),
  });
  try {
    await smtp.mailer.send({
      ...renderConfirmation({ organization, link: `${publicUrl}/notifications/confirm/${token}`, expiresAt }),
      messageId: `<confirm.${randomUUID()}@${smtp.from.slice(smtp.from.lastIndexOf('@') + 1)}>`,
      from: smtp.from,
      to: [address],
    });
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    log.warn({ organizationId, error: error.summary }, 'failed to send a confirmation email');
    if (error.permanent) await noteAsked(deps.pool, asked);
    return;
  }
  await noteAsked(deps.pool, asked);
  log.info({ organizationId }, 'sent a confirmation email');
}
