// Sends messages: to alert channels by HTTP through the address guard, no matter who chose the address, and by mail.
import { PAGERDUTY_URLS, pagerDutyBody, slackBody, teamsBody, webhookBody } from '../core/messages/bodies.ts';
import type { ChannelConfig, OpenChannel } from '../core/messages/channel.ts';
import type { StopLink } from '../core/messages/route-mails.ts';
import { alertMail, type MailText } from '../core/messages/mail.ts';
import type { AlertMessage } from '../core/messages/message.ts';
import { retryAfterOf } from '../core/delivery/backoff.ts';
import type { Settings } from '../core/config/config.ts';
import { type ErrorSummary, ownWords } from '../core/text/error-summary.ts';
import { HOPS_HEADER } from '../core/http/headers.ts';
import { addressesUnder } from '../core/http/urls.ts';
import { signStandardWebhook } from '../core/verification/standard-webhooks.ts';
import type { Sender, SendResponse } from './http/sender.ts';
import { MailError, sendToEach, type Smtp } from './mail.ts';

const TIMEOUT_MS = 15_000;
// The longest wait that a channel may ask for.
const MAX_RETRY_AFTER_SECONDS = 600;

type Measured = {
  /** Null where nothing came back, and for mails. */
  statusCode: number | null;
  /** ms */
  latency: number;
  /** The beginning of what came back. */
  responseBody: string | null;
};
export type SendResult = Measured &
  /** `refused`: recipients of a mail that the server did not take; it took one at least. */
  (
    | { ok: true; refused?: number }
    | {
        ok: false;
        summary: ErrorSummary;
        /** With foreign text, for the API only. */
        detail: string;
        /** Trying again would not help. */
        isPermanent: boolean;
        retryAfterMs: number | null;
      }
  );

export interface MailSenderDeps {
  /** Null when SMTP_URL is not set. */
  smtp: Smtp | null;
  stopLink: StopLink;
}

export interface AlertSenderDeps extends MailSenderDeps {
  sender: Sender;
  settings: Pick<Settings, 'HOOKYARD_PAGERDUTY_URL'>;
  /** Base of the addresses of sources: an alert that came in as a webhook could be the cause of the next one. */
  publicUrl: () => string;
  version: string;
}

/** Never rejects; errors are part of the result. */
export type SendAlert = (channel: OpenChannel, message: AlertMessage, to: string[]) => Promise<SendResult>;

const COMES_BACK = ownWords`The URL is under HOOKYARD_PUBLIC_URL, so alerts would come back as webhooks; use another URL`;

/** Why a mail was given up that no address may get: a matter of the tenant and the rule of recipients. */
export const WITHHELD = ownWords`None of the addresses is allowed to receive emails`;

interface Outgoing {
  url: string;
  body: object;
  headers?: Record<string, string>;
}

/** @returns a function whose last parameter are the recipients of a mail */
export function createAlertSender(deps: AlertSenderDeps): SendAlert {
  return async (channel, message, to) => {
    const { config } = channel;
    if (config.type === 'mail')
      return sendMail(deps, alertMail(message), `alert.${message.id}`, message.organization, to);
    const request = requestOf(deps, channel, config, message);
    const result = await post(deps, channel, message, request);
    // The answer is about the incident of a test; that it is closed again is a courtesy.
    if (config.type === 'pagerduty' && message.content.kind === 'test' && result.ok)
      await post(deps, channel, message, { ...request, body: pagerDutyBody(message, config, 'resolve') });
    return result;
  };
}

type HttpConfig = Exclude<ChannelConfig, { type: 'mail' }>;

function requestOf(deps: AlertSenderDeps, channel: OpenChannel, config: HttpConfig, message: AlertMessage): Outgoing {
  switch (config.type) {
    case 'webhook': {
      const body = webhookBody(message);
      const { previousSecret } = channel;
      const headers = signStandardWebhook({
        secrets: previousSecret === null ? [config.secret] : [config.secret, previousSecret],
        id: message.id,
        timestampSeconds: Math.floor(Date.now() / 1000),
        body: bytesOf(body),
      });
      return { url: config.url, body, headers };
    }
    case 'slack':
      return { url: config.url, body: slackBody(message) };
    case 'teams':
      return { url: config.url, body: teamsBody(message) };
    case 'pagerduty': {
      const base = deps.settings.HOOKYARD_PAGERDUTY_URL ?? PAGERDUTY_URLS[config.region];
      return { url: `${base}/v2/enqueue`, body: pagerDutyBody(message, config) };
    }
  }
}

const bytesOf = (body: object): Buffer => Buffer.from(JSON.stringify(body));

async function post(
  { sender, publicUrl, version }: AlertSenderDeps,
  { id }: OpenChannel,
  { organization }: AlertMessage,
  out: Outgoing,
): Promise<SendResult> {
  // The setting may have come after the channel.
  if (addressesUnder(publicUrl())(out.url)) return failedBefore(COMES_BACK);
  const result = await sender.send({
    organizationId: organization.id,
    poolKey: id,
    method: 'POST',
    url: out.url,
    headers: {
      ...{ 'Content-Type': 'application/json', 'User-Agent': `Hookyard/${version}`, [HOPS_HEADER]: '1' },
      ...out.headers,
    },
    body: bytesOf(out.body),
    timeoutMs: TIMEOUT_MS,
  });
  if (result.kind === 'error') {
    const { latency, summary, detail, retryable } = result;
    return { ok: false, ...NOTHING, latency, summary, detail, isPermanent: !retryable };
  }
  return judgeAnswer(result);
}

/** Of what came back. */
const NOTHING = { statusCode: null, latency: 0, responseBody: null, retryAfterMs: null };

/** Nothing was sent, and trying again would not help. */
function failedBefore(summary: ErrorSummary): SendResult {
  return { ok: false, ...NOTHING, summary, detail: summary, isPermanent: true };
}

function judgeAnswer({ statusCode, latency, bodyText: responseBody, headers }: SendResponse): SendResult {
  const measured = { statusCode, latency, responseBody };
  if (statusCode >= 200 && statusCode <= 299) return { ok: true, ...measured };
  const summary = ownWords`The channel returned ${statusCode}`;
  // RFC 9110 and RFC 6585: what may be sent again.
  const isPermanent = statusCode < 500 && ![408, 425, 429].includes(statusCode);
  return { ok: false, ...measured, summary, detail: summary, isPermanent, retryAfterMs: retryAfter(headers) };
}

function retryAfter(headers: Record<string, string>): number | null {
  const wait = retryAfterOf(headers, Date.now());
  return wait && Math.min(wait, MAX_RETRY_AFTER_SECONDS * 1000);
}

/**
 * Sends a mail. Never rejects; errors are part of the result.
 * @param id the same in every try, so that repeated mails are recognized: the first half of the Message-ID (RFC 5322,
 *   section 3.6.4)
 */
export async function sendMail(
  { smtp, stopLink }: MailSenderDeps,
  text: MailText,
  id: string,
  organization: { id: string; slug: string },
  to: string[],
): Promise<SendResult> {
  if (smtp === null) return failedBefore(ownWords`No mail server is configured (SMTP_URL)`);
  if (to.length === 0) return failedBefore(WITHHELD);
  const { mailer, from } = smtp;
  const mail = { ...text, messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`, from, to };
  const startedAt = performance.now();
  const measured = () => ({ ...NOTHING, latency: Math.round(performance.now() - startedAt) });
  try {
    const refused = await sendToEach(mailer, mail, (address) => stopLink(organization, address));
    return { ok: true, refused, ...measured() };
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const { summary, permanent: isPermanent } = error;
    return { ok: false, ...measured(), summary, detail: summary, isPermanent };
  }
}
