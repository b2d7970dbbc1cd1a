// Messages of the outbox: loaded, rendered, sent and ended. Delivered at least once, like events.
import { cancelled } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ChannelType } from '../core/messages/channel.ts';
import { mayReceive, type RecipientRule, recipients } from '../core/messages/route-mails.ts';
import { type IssueSink, issueSubjects } from '../core/messages/issues.ts';
import { renderMail } from '../core/messages/mail.ts';
import { type AlertContent, type AlertMessage, type PeopleLinks, peopleLink } from '../core/messages/message.ts';
import { notifications } from '../core/metrics/services.ts';
import type { Log } from '../core/process/log.ts';
import type { WorkflowLink } from '../core/temporal/names.ts';
import type { Pool } from '../db/connections/pool.ts';
import type { SecretBox } from '../db/encryption/secret-box.ts';
import { noteNotifying, openChannel } from '../db/messages/alert-channels.ts';
import {
  finishMessage,
  giveUpMessage,
  type LoadedAlert,
  type LoadedMail,
  loadMessage,
  noteFailedTry,
} from '../db/messages/outbox.ts';
import { type MailSenderDeps, type SendAlert, type SendResult, sendMail, WITHHELD } from '../outbound/messages.ts';
import { withHeartbeat } from './activity.ts';
import type { MessageActivities, MessageOutcome, MessageRequest } from './types.ts';

/** Where the address of the API is not known, paths are shown. */
export interface MessageDeps extends PeopleLinks, MailSenderDeps {
  pool: Pool;
  secretBox: SecretBox;
  sendAlert: SendAlert;
  /** Who may be sent mails at the moment. */
  recipientRule: () => RecipientRule;
  workflowLink: WorkflowLink;
  issues: IssueSink;
  log: Log;
}

export function createMessageActivities(deps: MessageDeps): MessageActivities {
  return {
    sendMessage: (request) => withHeartbeat(() => sendMessage(deps, request)),
    giveUpMessage: ({ reason, ...request }) => giveUp(deps, request, reason),
  };
}

type Loaded = LoadedMail | LoadedAlert;

async function sendMessage(deps: MessageDeps, request: MessageRequest): Promise<MessageOutcome> {
  const loaded = await loadMessage(deps.pool, request);
  if (loaded === null) return { status: 'nothing' };
  const allowed = recipients(loaded.emails).filter((address) =>
    mayReceive(deps.recipientRule(), address, new Set(loaded.confirmed)),
  );
  const sending = prepared(deps, request, loaded, allowed);
  const line = lineOf(request, loaded);
  if (sending === null) {
    await finishMessage(deps.pool, request, 'unwanted');
    return { status: 'unwanted' };
  }
  const type = typeOf(loaded);
  const isLogged = type === 'mail' && deps.smtp === null;
  // The channel of an alert that reaches nobody fails instead; a route has no channel.
  const isWithheld = loaded.to === 'route' && !isLogged && allowed.length === 0;
  if (isLogged) deps.log.info(line, 'message logged, not sent (set SMTP_URL to send messages by email)');
  else if (isWithheld)
    deps.log.warn(line, 'message withheld: HOOKYARD_NOTIFY_RECIPIENTS allows none of the recipients');
  else {
    if (loaded.kind === 'failing') await noteNotifying(deps.pool, request);
    // A worker that ends does not wait for a silent receiver; another worker sends the same message again.
    const result = await Promise.race([sending(), cancelled()]);
    noteInIssues(deps, loaded, result);
    if (!result.ok) await refuse(deps, request, loaded, result);
    deps.log.info({ ...line, ...(result.ok && result.refused && { refused: result.refused }) }, 'message sent');
  }
  await finishMessage(deps.pool, request, 'sent');
  notifications.add({ channel: isLogged ? 'log' : type, result: isWithheld ? 'withheld' : 'sent' });
  if (isLogged) return { status: 'logged' };
  return { status: isWithheld ? 'withheld' : 'sent' };
}

const typeOf = (loaded: Loaded): ChannelType => (loaded.to === 'channel' ? loaded.channel.type : 'mail');

function lineOf({ messageId, organizationId }: MessageRequest, loaded: Loaded) {
  const common = { messageId, organizationId, kind: loaded.kind };
  if (loaded.to === 'channel') {
    const { channel, changes } = loaded;
    return { ...common, channelId: channel.id, type: channel.type, issueIds: changes.map(({ issue }) => issue.id) };
  }
  const { route, mail } = loaded;
  const { delivery_id: deliveryId, error_summary: error } = mail.facts;
  return { ...common, routeId: route?.id, count: mail.count, deliveryId, ...(error && { error }) };
}

/** @returns what sends a message; null when nobody wants it any more, or what it was about is gone */
function prepared(
  deps: MessageDeps,
  request: MessageRequest,
  loaded: Loaded,
  to: string[],
): (() => Promise<SendResult>) | null {
  if (loaded.to === 'route') {
    const { route, kind, mail, organization, sourceName, destinationName } = loaded;
    if (route === null) return null;
    const id = mail.facts.delivery_id;
    const names = { routeName: route.name, sourceName, destinationName };
    const { temporalUrl } = deps.workflowLink(id);
    const text = renderMail({
      ...mail,
      kind,
      ...names,
      temporalUrl,
      deliveryUrl: peopleLink(deps, `/deliveries/${id}`),
    });
    return () => sendMail(deps, text, `${kind}.${id}`, organization, to);
  }
  const { channel, organization, createdAt } = loaded;
  const content = contentOf(loaded);
  if (content === null || !channel.enabled) return null;
  const message: AlertMessage = {
    id: request.messageId,
    at: createdAt,
    organization,
    channel: { id: channel.id, name: channel.name },
    content,
    apiBase: deps.apiBase,
    hasConsole: deps.hasConsole,
  };
  return async () => deps.sendAlert(openChannel(deps.secretBox, channel), message, to);
}

/** Null: what the message was about is gone. */
function contentOf({ kind, changes, other }: LoadedAlert): AlertContent | null {
  if (kind === 'recovered') return other && { kind, channel: { id: other.id, name: other.name } };
  if (kind === 'failing') {
    const { id, name, failing } = other ?? {};
    return id && name && failing ? { kind, channel: { id, name, ...failing }, changes } : null;
  }
  const [issueChange] = changes;
  if (issueChange === undefined) return null;
  return kind === 'change' ? { kind, issueChange } : { kind, changes };
}

/** Mails of routes that are not sent are an issue. */
function noteInIssues({ issues }: MessageDeps, loaded: Loaded, result: SendResult): void {
  if (loaded.to === 'channel' || loaded.route === null) return;
  const subject = issueSubjects.notification(loaded.organization.id, loaded.route.id);
  if (result.ok) {
    issues.worked(subject);
    return;
  }
  const { event_id: eventId, delivery_id: deliveryId } = loaded.mail.facts;
  const cause = result.isPermanent ? 'MAIL_REFUSED' : 'MAIL_SERVER_AWAY';
  issues.failed(subject, { cause, at: Date.now(), isFinal: result.isPermanent, eventId, deliveryId });
}

/** @throws ApplicationFailure */
async function refuse(
  deps: MessageDeps,
  request: MessageRequest,
  loaded: Loaded,
  result: SendResult & { ok: false },
): Promise<never> {
  const { summary, statusCode, isPermanent, retryAfterMs } = result;
  notifications.add({ channel: typeOf(loaded), result: summary === WITHHELD ? 'withheld' : 'failed' });
  deps.log.warn({ ...lineOf(request, loaded), error: summary, statusCode, isPermanent }, 'message not sent');
  const isOver = isPermanent || (loaded.to === 'channel' && (await noteFailedTry(deps.pool, request)));
  throw ApplicationFailure.create({
    message: summary,
    type: isPermanent ? 'MessageRefused' : 'ReceiverAway',
    nonRetryable: isOver,
    ...(retryAfterMs !== null && { nextRetryDelay: retryAfterMs }),
  });
}

async function giveUp(deps: MessageDeps, request: MessageRequest, reason: string): Promise<void> {
  const given = await giveUpMessage(deps.pool, request, reason);
  if (given === null) return;
  // Counted as withheld when it was tried.
  if (reason !== WITHHELD) notifications.add({ channel: given.type, result: 'given_up' });
  const { organizationId, messageId } = request;
  deps.log.error({ organizationId, messageId, ...given, reason }, 'gave up on a message');
}
