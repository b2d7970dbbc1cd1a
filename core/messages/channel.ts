// What a channel of alerts is: where it leads, by type, and which issues it is told of.
import { z } from 'zod';
import { urlProblem } from '../http/urls.ts';
import { emailList } from './route-mails.ts';
import { signingSecretProblem } from '../verification/standard-webhooks.ts';

const url = z
  .string()
  .superRefine((text, context) => {
    const problem = urlProblem(text);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem, params: { apiCode: 'INVALID_URL' } });
  })
  .meta({ examples: ['https://alerts.example/hooks'] });

const signingSecret = z
  .string()
  .superRefine((text, context) => {
    const problem = signingSecretProblem(text);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  })
  .meta({
    description: 'The signing secret: `whsec_` followed by 24 to 64 bytes in base64.',
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  });

const REGIONS = ['us', 'eu'] as const;
const region = z
  .enum(REGIONS)
  .default('us')
  .meta({ description: "The PagerDuty account's region.", examples: ['us'] });

const PAGERDUTY_SEVERITIES = ['critical', 'error', 'warning', 'info'] as const;

export const channelConfigSchemas = {
  mail: z
    .object({
      emails: emailList
        .refine((text) => text.trim() !== '', 'must contain at least one email address')
        .meta({ description: 'Comma-separated email addresses.', examples: ['ops@example.com'] }),
    })
    .meta({ id: 'MailChannel' }),
  webhook: z.object({ url, secret: signingSecret }).meta({ id: 'WebhookChannel' }),
  slack: z
    .object({ url: url.meta({ description: 'The URL of a Slack incoming webhook.' }) })
    .meta({ id: 'SlackChannel' }),
  teams: z
    .object({
      url: url.meta({ description: 'The URL of a Teams workflow that posts to a channel when a webhook is received.' }),
    })
    .meta({ id: 'TeamsChannel' }),
  pagerduty: z
    .object({
      routingKey: z
        .string()
        .regex(/^[A-Za-z0-9]{32}$/, 'must be the integration key of a service (Events API v2): 32 letters and digits')
        .meta({ examples: ['R0123456789ABCDEFGHIJKLMNOPQRSTU'] }),
      severity: z
        .enum(PAGERDUTY_SEVERITIES)
        .default('error')
        .meta({ examples: ['error'] }),
      region,
    })
    .meta({ id: 'PagerDutyChannel' }),
} as const;

type Schemas = typeof channelConfigSchemas;
export type ChannelType = keyof Schemas;
export const CHANNEL_TYPES = Object.keys(channelConfigSchemas) as [ChannelType, ...ChannelType[]];

export type ChannelConfig = { [Type in ChannelType]: { type: Type } & z.output<Schemas[Type]> }[ChannelType];

export interface OpenChannel {
  id: string;
  config: ChannelConfig;
  /** The secret before the one in `config`, while both are valid. */
  previousSecret: string | null;
}

/** The member of `config` that is a secret; addresses of Slack and Teams let everyone who knows them post there. */
export const CHANNEL_SECRET: Readonly<Record<ChannelType, string | null>> = {
  mail: null,
  webhook: 'secret',
  slack: 'url',
  teams: 'url',
  pagerduty: 'routingKey',
};

/** Types that keep one incident per issue, so a message of several issues makes no sense there. */
export const INCIDENT_TYPES: readonly ChannelType[] = ['pagerduty'];

export interface QuietHours {
  /** `22:00` */
  from: string;
  to: string;
  timeZone: string;
}

export function isTimeZone(text: string): boolean {
  // An offset is a time zone to Node, and an abbreviation may be one of several.
  if (!/^(?:UTC|[A-Za-z_]+(?:\/[A-Za-z0-9_+-]+)+)$/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a time is within the quiet hours of a channel. A time zone that Node does not know is no reason to notify
 * nobody.
 */
export function isQuiet(hours: QuietHours | null, at: Date): boolean {
  if (hours === null) return false;
  const { from, to, timeZone } = hours;
  if (!isTimeZone(timeZone)) return false;
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(at);
  return from < to ? clock >= from && clock < to : clock >= from || clock < to;
}

/** The change of an issue that a message tells. `exhausted`: the first delivery has failed for good. */
export const CHANGES = ['opened', 'exhausted', 'acknowledged', 'resolved', 'ignored'] as const;
export type Change = (typeof CHANGES)[number];
