// Asks the owners of addresses whether they want notifications, while HOOKYARD_NOTIFY_RECIPIENTS demands it.
import { randomUUID } from 'node:crypto';
import { CONFIRM_WITHIN_MS, renderConfirmation } from '../core/messages/confirmation-mail.ts';
import type { Log } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import type { RecipientRule } from '../core/messages/notify-recipients.ts';
import { PollLoop } from '../core/process/poll-loop.ts';
import { type Asked, noteAsked } from '../db/notifications/notification-recipients.ts';
import {
  type Claim,
  claimRecipients,
  forgetUnnamed,
  neverAsked,
  type Place,
  QUEUE_START,
} from '../db/notifications/recipient-claims.ts';
import { sealConfirmation } from '../db/encryption/confirmation-token.ts';
import type { SecretBox } from '../db/encryption/secret-box.ts';
import type { Pool } from '../db/connections/pool.ts';
import { MailError, type Mailer } from '../outbound/mail.ts';
import type { DuePart } from './due.ts';

const EVERY_MS = 2000;
const MAX_PER_ROUND = 10;
const FORGET_EVERY_MS = 30_000;

export interface ConfirmationDeps {
  pool: Pool;
  secretBox: SecretBox;
  smtp: { mailer: Mailer; from: string };
  recipientRule: () => RecipientRule;
  /** Base of the links. */
  publicUrl: string;
  log: Log;
}

/** Failure policy: a mail that cannot be sent is tried again after five minutes; one that is refused for good is not. */
export function dueConfirmations(deps: ConfirmationDeps): DuePart {
  const ending = Promise.withResolvers<void>();
  const isOn = () => deps.recipientRule() === 'confirmed';
  let place = QUEUE_START;
  const forgetting = startForgetting(deps, isOn);
  return {
    what: 'confirmation mails',
    kinds: ['recipients'],
    everyMs: () => EVERY_MS,
    isOn,
    async round() {
      const { claims, next } = await claimRecipients(deps.pool, MAX_PER_ROUND, place);
      place = next;
      // A worker that ends does not wait for a silent mail server; another one sends the mail again.
      await Promise.race([Promise.all(claims.map((each) => askIfNamed(deps, each))), ending.promise]);
      return place === QUEUE_START ? null : EVERY_MS;
    },
    async stop() {
      ending.resolve();
      await forgetting.stop();
    },
  };
}

/** Removes now and then addresses that no route names any more. However long that takes, nobody who is to be asked waits for it. */
function startForgetting(deps: ConfirmationDeps, isOn: () => boolean): PollLoop {
  const rest = { ms: FORGET_EVERY_MS };
  let place: Place = QUEUE_START;
  const keep = (error: unknown) =>
    deps.log.warn({ cause: causeOf(error) }, 'recipients that no route names are kept for now');
  return new PollLoop({
    async round() {
      if (!isOn()) return rest;
      const { places, next } = await neverAsked(deps.pool, place);
      place = next;
      for (const [organizationId, mine] of Map.groupBy(places, (each) => each.organizationId)) {
        const addresses = mine.map(({ address }) => address);
        await forgetUnnamed(deps.pool, organizationId, addresses, null).catch(keep);
      }
      return rest;
    },
    onError(error) {
      keep(error);
      return rest;
    },
  });
}

/** The check is for each claim alone: one that fails, as with very many routes, stops no other; the claim comes back. */
async function askIfNamed(deps: ConfirmationDeps, claim: Claim): Promise<void> {
  const { organizationId, address, askedAt, first } = claim;
  try {
    const forgotten = first ? await forgetUnnamed(deps.pool, organizationId, [address], askedAt) : [];
    if (forgotten.length > 0) return;
  } catch (error) {
    deps.log.warn(
      { organizationId, cause: causeOf(error) },
      'a confirmation mail is sent later: the routes of its recipient are not known',
    );
    return;
  }
  await ask(deps, claim);
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
    log.warn({ organizationId, error: error.summary }, 'a confirmation mail could not be sent');
    if (!error.permanent) return;
  }
  await noteAsked(deps.pool, asked);
  log.info({ organizationId }, 'a confirmation mail was sent to a recipient of notifications');
}
