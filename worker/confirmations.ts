// Asks the owners of addresses whether they want notifications, while HOOKYARD_NOTIFY_RECIPIENTS demands it.
import { randomUUID } from 'node:crypto';
import { CONFIRM_WITHIN_MS, renderConfirmation } from '../core/confirmation-mail.ts';
import type { Log } from '../core/log.ts';
import type { RecipientRule } from '../core/notify-recipients.ts';
import { PollLoop } from '../core/poll-loop.ts';
import { type Asked, claimRecipients, noteAsked } from '../db/delivery/notification-recipients.ts';
import { sealConfirmation } from '../db/encryption/confirmation-token.ts';
import type { SecretBox } from '../db/encryption/secret-box.ts';
import type { Pool } from '../db/pool.ts';
import { MailError, type Mailer } from '../outbound/mail.ts';

const LOOK_EVERY_MS = 2000;
const MAX_PER_LOOK = 10;

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
export function startConfirmations(deps: ConfirmationDeps): { stop(): Promise<void> } {
  const ending = Promise.withResolvers<void>();
  const rest = { ms: LOOK_EVERY_MS };
  const loop = new PollLoop({
    async round() {
      if (deps.recipientRule() !== 'confirmed') return rest;
      const asked = await claimRecipients(deps.pool, MAX_PER_LOOK);
      // A worker that ends does not wait for a silent mail server; another one sends the mail again.
      await Promise.race([Promise.all(asked.map((each) => ask(deps, each))), ending.promise]);
      return rest;
    },
    onError(error) {
      deps.log.warn({ err: error }, 'mails that ask recipients wait: the database is away');
      return rest;
    },
  });
  return {
    stop() {
      ending.resolve();
      return loop.stop();
    },
  };
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
    log.warn({ organizationId, error: error.serverWords }, 'a recipient of notifications could not be asked');
    if (!error.permanent) return;
  }
  await noteAsked(deps.pool, asked);
  log.info({ organizationId }, 'a recipient of notifications was asked');
}
