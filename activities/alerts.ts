// Messages to channels of alerts: loaded, rendered, sent and ended. Delivered at least once, like events.
// Rules: ALR-15, ALR-17.
import { cancelled } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { AlertContent, AlertMessage } from '../core/messages/message.ts';
import type { Log } from '../core/process/log.ts';
import { notifications } from '../core/metrics/services.ts';
import { recipients } from '../core/messages/notification-mail.ts';
import { mayReceive, type RecipientRule } from '../core/messages/notify-recipients.ts';
import type { PeopleLinks } from '../core/messages/people-link.ts';
import { openChannel } from '../db/alerts/channel-config.ts';
import { finishMessage, giveUpMessage, noteFailedTry } from '../db/alerts/endings.ts';
import { type LoadedMessage, loadMessage } from '../db/alerts/messages.ts';
import { noteTelling } from '../db/alerts/recoveries.ts';
import type { SecretBox } from '../db/encryption/secret-box.ts';
import type { Pool } from '../db/connections/pool.ts';
import { type SendAlert, WITHHELD } from '../outbound/alerts.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { AlertActivities, AlertOutcome, AlertRequest } from './types.ts';

export interface AlertDeps extends PeopleLinks {
  pool: Pool;
  secretBox: SecretBox;
  send: SendAlert;
  /** Whether SMTP_URL is set; otherwise messages to mail channels are logged. */
  hasMail: boolean;
  recipientRule: () => RecipientRule;
  log: Log;
}

export function createAlertActivities(deps: AlertDeps): AlertActivities {
  return {
    sendAlert: (request) => withHeartbeat(() => sendAlert(deps, request)),
    giveUpAlert: ({ reason, ...request }) => giveUp(deps, request, reason),
  };
}

async function sendAlert(deps: AlertDeps, request: AlertRequest): Promise<AlertOutcome> {
  const loaded = await loadMessage(deps.pool, request);
  if (loaded === null) return { status: 'nothing' };
  const content = contentOf(loaded);
  if (content === null || !loaded.channel.enabled) {
    await finishMessage(deps.pool, request, 'unwanted');
    return { status: 'unwanted' };
  }
  const isLogged = loaded.channel.type === 'mail' && !deps.hasMail;
  const line = lineOf(request, loaded);
  if (isLogged) deps.log.info(line, 'alert (set SMTP_URL to have it sent by mail)');
  else {
    if (content.kind === 'failing') await noteTelling(deps.pool, request);
    await send(deps, request, loaded, content);
  }
  await finishMessage(deps.pool, request, 'sent');
  notifications.add({ channel: isLogged ? 'log' : loaded.channel.type, result: 'sent' });
  if (!isLogged) deps.log.info(line, 'alert sent');
  return { status: isLogged ? 'logged' : 'sent' };
}

const lineOf = ({ messageId, organizationId }: AlertRequest, { channel, kind, changes }: LoadedMessage) => ({
  messageId,
  organizationId,
  channelId: channel.id,
  type: channel.type,
  kind,
  issueIds: changes.map(({ issue }) => issue.id),
});

/** Null: what was to be told is gone. */
function contentOf({ kind, changes, other }: LoadedMessage): AlertContent | null {
  if (kind === 'recovered') return other && { kind, channel: { id: other.id, name: other.name } };
  if (kind === 'failing') {
    const { id, name, failing } = other ?? {};
    return id && name && failing ? { kind, channel: { id, name, ...failing }, changes } : null;
  }
  const [told] = changes;
  if (told === undefined) return null;
  return kind === 'change' ? { kind, told } : { kind, changes };
}

async function send(deps: AlertDeps, request: AlertRequest, loaded: LoadedMessage, content: AlertContent) {
  const { channel, organization, createdAt, confirmed } = loaded;
  const message: AlertMessage = {
    id: request.messageId,
    at: createdAt,
    organization,
    channel: { id: channel.id, name: channel.name },
    content,
    apiBase: deps.apiBase,
    hasConsole: deps.hasConsole,
  };
  const to = recipients(channel.notifyEmails ?? '').filter((address) =>
    mayReceive(deps.recipientRule(), address, new Set(confirmed)),
  );
  const sending = deps.send(openChannel(deps.secretBox, channel), message, to);
  // A worker that ends does not wait for a silent channel; another worker sends the same message again.
  const result = await Promise.race([sending, cancelled()]);
  if (result.ok) return;
  const isWithheld = channel.type === 'mail' && to.length === 0;
  notifications.add({ channel: channel.type, result: isWithheld ? 'withheld' : 'failed' });
  const { summary, statusCode, isPermanent, retryAfterMs } = result;
  deps.log.warn({ ...lineOf(request, loaded), error: summary, statusCode, isPermanent }, 'alert not sent');
  throw ApplicationFailure.create({
    message: summary,
    type: isPermanent ? 'ChannelRefused' : 'ChannelAway',
    nonRetryable: isPermanent || (await noteFailedTry(deps.pool, request)),
    ...(retryAfterMs !== null && { nextRetryDelay: retryAfterMs }),
  });
}

async function giveUp(deps: AlertDeps, request: AlertRequest, reason: string): Promise<void> {
  const given = await giveUpMessage(deps.pool, request, reason);
  if (given === null) return;
  // Counted as withheld when it was tried.
  if (reason !== WITHHELD) notifications.add({ channel: given.type, result: 'given_up' });
  deps.log.error({ ...request, ...given, reason }, 'alert given up: its channel fails');
}
