// Notification mails: due notifications are frozen, rendered, sent and finished. Delivered at least once, like events.
import { cancelled } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type IssueSink, issueSubjects } from '../core/messages/issues.ts';
import type { Log } from '../core/process/log.ts';
import { notifications } from '../core/metrics/services.ts';
import { messageId, recipients, renderMail } from '../core/messages/notification-mail.ts';
import { mayReceive, type RecipientRule, type StopLink } from '../core/messages/notify-recipients.ts';
import { type PeopleLinks, peopleLink } from '../core/messages/people-link.ts';
import type { WorkflowLink } from '../core/temporal/temporal-link.ts';
import {
  finishMail,
  forgetNotification,
  type FrozenMail,
  freezeMail,
  type MailContext,
  mailContext,
  type NotificationKey,
} from '../db/notifications/notifications.ts';
import type { Pool } from '../db/connections/pool.ts';
import { MailError, type Mailer, sendToEach, type Taken } from '../outbound/mail.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { NotificationOutcome, NotifyActivities } from './types.ts';

/** Where the address of the API is not known, paths are shown. */
export interface NotifyDeps extends PeopleLinks {
  pool: Pool;
  /** Null when SMTP_URL is not set: notifications are logged. */
  smtp: { mailer: Mailer; from: string } | null;
  /** Who may be sent mails at the moment. */
  recipientRule: () => RecipientRule;
  stopLink: StopLink;
  workflowLink: WorkflowLink;
  issues: IssueSink;
  log: Log;
}

export function createNotifyActivities(deps: NotifyDeps): NotifyActivities {
  return {
    sendNotification: (key) => withHeartbeat(() => sendNotification(deps, key)),
    dropNotification: ({ reason, ...key }) => dropNotification(deps, key, reason),
  };
}

async function sendNotification(deps: NotifyDeps, key: NotificationKey): Promise<NotificationOutcome> {
  const mail = await freezeMail(deps.pool, key);
  if (mail === null) return { status: 'nothing', count: 0 };
  const context = await mailContext(deps.pool, key, mail);
  if (context === null) {
    await forgetNotification(deps.pool, key);
    return { status: 'unwanted', count: mail.count };
  }
  const to = recipients(context.emails).filter((address) =>
    mayReceive(deps.recipientRule(), address, new Set(context.confirmed)),
  );
  const status = deps.smtp === null ? 'logged' : to.length > 0 ? 'sent' : 'withheld';
  const { delivery_id: deliveryId, error_summary: summary } = mail.facts;
  const line = { ...key, count: mail.count, deliveryId };
  if (deps.smtp === null) {
    deps.log.info({ ...line, error: summary }, 'notification (set SMTP_URL to have it sent by mail)');
  } else if (to.length === 0) {
    deps.log.warn(line, 'notification withheld: none of its recipients may be sent mails (HOOKYARD_NOTIFY_RECIPIENTS)');
  } else {
    const taken = await send(deps, deps.smtp, key, mail, { context, to });
    deps.log.info({ ...line, ...taken }, 'notification sent');
  }
  await finishMail(deps.pool, key, mail);
  const result = status === 'logged' ? 'sent' : status;
  notifications.add({ channel: channelOf(deps), result });
  return { status, count: mail.count };
}

const channelOf = ({ smtp }: NotifyDeps) => (smtp === null ? 'log' : 'mail');

async function send(
  deps: NotifyDeps,
  { mailer, from }: { mailer: Mailer; from: string },
  key: NotificationKey,
  mail: FrozenMail,
  { context, to }: { context: MailContext; to: string[] },
): Promise<Taken> {
  const deliveryId = mail.facts.delivery_id;
  const subject = issueSubjects.notification(context.organizationId, key.routeId);
  try {
    const text = renderMail(mailFacts(deps, key, mail, context));
    const organization = { id: context.organizationId, slug: context.organization };
    const sending = sendToEach(
      mailer,
      { ...text, messageId: messageId(key.kind, deliveryId, from), from, to },
      (address) => deps.stopLink(organization, address),
    );
    // A worker that ends does not wait for a silent server; another worker sends the same mail again.
    const taken = await Promise.race([sending, cancelled()]);
    deps.issues.worked(subject);
    return taken;
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    notifications.add({ channel: 'mail', result: 'failed' });
    const cause = error.permanent ? 'MAIL_REFUSED' : 'MAIL_SERVER_AWAY';
    deps.issues.failed(subject, {
      cause,
      at: Date.now(),
      isFinal: error.permanent,
      eventId: mail.facts.event_id,
      deliveryId,
    });
    deps.log.warn({ ...key, deliveryId, error: error.summary }, 'notification not sent');
    if (error.permanent) throw ApplicationFailure.nonRetryable(error.message, 'MailRefused');
    throw ApplicationFailure.retryable(error.message, 'MailServerAway');
  }
}

function mailFacts(
  deps: NotifyDeps,
  { kind }: NotificationKey,
  { count, since, facts }: FrozenMail,
  { routeName, sourceName, destinationName }: MailContext,
) {
  const failedBefore =
    facts.failures === undefined || facts.failing_since === undefined
      ? null
      : { count: facts.failures, since: new Date(facts.failing_since) };
  return {
    kind,
    routeName,
    sourceName,
    destinationName,
    count,
    since: new Date(since),
    eventId: facts.event_id,
    deliveryId: facts.delivery_id,
    attempts: facts.attempts,
    statusCode: facts.status_code,
    error: facts.error_summary,
    at: new Date(facts.at),
    failedBefore,
    temporalUrl: deps.workflowLink(facts.delivery_id).temporalUrl,
    deliveryUrl: peopleLink(deps, `/deliveries/${facts.delivery_id}`),
  };
}

/** Gives up the mail that could not be sent; the next one of the route follows the usual rules. */
async function dropNotification(deps: NotifyDeps, key: NotificationKey, reason: string): Promise<void> {
  const mail = await freezeMail(deps.pool, key);
  if (mail === null) return;
  await finishMail(deps.pool, key, mail);
  notifications.add({ channel: channelOf(deps), result: 'given_up' });
  deps.log.error({ ...key, count: mail.count, deliveryId: mail.facts.delivery_id, reason }, 'notification dropped');
}
