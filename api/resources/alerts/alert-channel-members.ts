import { z } from 'zod';
import { CHANNEL_TYPES, channelConfigSchemas, isTimeZone } from '../../../core/messages/channel.ts';
import { ISSUE_KINDS } from '../../../core/messages/issues.ts';
import type { AlertChannel } from '../../../db/records/entities.ts';
import { UNCHANGEABLE } from '../destinations/destination-members.ts';
import * as field from '../fields.ts';
import * as table from '../table.ts';
import { component, flag, idOf, text, timestamp, withExample } from '../values.ts';

const MAX_IDS = 100;
const DAY_MINUTES = 1440;
// So that what fails now and then does not tell its end, and that it is back, every minute.
const DEFAULT_THROTTLE_MINUTES = 15;

// Its shape depends on the type, which an update may omit: checked once that is known (resources/alert-channels.ts).
const config = z.record(z.string(), z.unknown());
const shownConfig = withExample(
  z.record(z.string(), z.string()),
  { url: 'https://alerts.example/hooks', secret: '••••aLSw' },
  'Secrets are shown as •••• followed by their last four characters. Slack and Teams URLs are secrets.',
);

const type = {
  create: z.enum(CHANNEL_TYPES),
  update: z.enum(CHANNEL_TYPES, UNCHANGEABLE).optional(),
  answer: z.enum(CHANNEL_TYPES),
  isStored: true,
} as const;

const atLeastOne = 'must not be empty; use null for all';
const kinds = withExample(
  z.array(z.enum(ISSUE_KINDS)).min(1, atLeastOne).max(ISSUE_KINDS.length).nullable(),
  ['delivery_failing', 'circuit_open'],
  'Issue kinds to notify about. If null, all kinds.',
);
const idsOf = (what: string, example: null) =>
  withExample(
    z.array(z.string()).min(1, atLeastOne).max(MAX_IDS).nullable(),
    example,
    `Limits the channel to issues whose \`${what}\` is one of these. If null, there is no such limit.`,
  );
const shownIds = (...prefixes: string[]) => z.array(idOf(...prefixes)).nullable();

const clock = withExample(z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:00'), '22:00');
const quietHours = withExample(
  z
    .object({
      from: clock,
      to: withExample(clock, '07:00'),
      timeZone: withExample(
        z.string().max(64).refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin'),
        'Europe/Berlin',
      ),
    })
    .refine(({ from, to }) => from !== to, 'must have different values for "from" and "to"')
    .nullable(),
  null,
  'Daily quiet hours. Changes during quiet hours are sent afterward, unless they were undone.',
);

export const alertChannelMembers = table.membersOf<
  Omit<AlertChannel, 'previousSecret' | 'notifyEmails' | 'failedAt'>
>()({
  id: table.readOnly(idOf('alc')),
  name: table.required(withExample(field.name, 'On call')),
  type,
  config: table.sealed(config, { answer: shownConfig }),
  enabled: table.optional(field.enabled, true),
  kinds: table.optional(kinds, null),
  sourceIds: table.optional(idsOf('sourceId', null), null, { answer: shownIds('src') }),
  routeIds: table.optional(idsOf('routeId', null), null, { answer: shownIds('rte') }),
  destinationIds: table.optional(idsOf('destinationId', null), null, { answer: shownIds('dst', 'dst_wh') }),
  afterCount: table.optional(
    withExample(z.int().min(1).max(1_000_000), 1, 'The count that an issue must reach before the channel is notified.'),
    1,
  ),
  onAcknowledged: table.optional(flag(false, 'Whether to notify when an issue is acknowledged.'), false),
  onResolved: table.optional(flag(true, 'Whether to notify when an issue is resolved or ignored.'), true),
  throttleMinutes: table.optional(
    withExample(
      z.int().min(0).max(DAY_MINUTES),
      DEFAULT_THROTTLE_MINUTES,
      'Minimum time between messages about an issue, in minutes. The message about the first delivery that has used up its retries is not delayed.',
    ),
    DEFAULT_THROTTLE_MINUTES,
  ),
  quietHours: table.optional(quietHours, null),
  digestMinutes: table.optional(
    withExample(
      z.int().min(1).max(DAY_MINUTES).nullable(),
      null,
      'Time between digests, in minutes. Each digest contains the changes to issues since the previous one. If null, each change is sent as its own message. Must be null for type `pagerduty`.',
    ),
    null,
  ),
  withheldEmails: table.computed(
    withExample(
      z.array(text('ops@example.com')),
      [],
      'Addresses that receive no email because their owners have not confirmed them or the operator does not accept their domain.',
    ),
  ),
  previousSecretUntil: table.readOnly(
    timestamp
      .nullable()
      .describe('When the previous secret expires. Until then, messages are signed with both secrets.'),
  ),
  failingSince: table.readOnly(
    timestamp.nullable().describe('When Hookyard first gave up on a message. Null if the channel is not failing.'),
  ),
  lastError: table.readOnly(text('The channel returned 410').nullable()),
  lastSentAt: table.readOnly(timestamp.nullable()),
  createdAt: table.readOnly(timestamp),
  updatedAt: table.readOnly(timestamp),
});

export const alertChannelDefaults = table.defaultsOf(alertChannelMembers);

export const createAlertChannelSchema = z.object({ ...table.createShape(alertChannelMembers), config });
export const updateAlertChannelSchema = z.object(table.updateShape(alertChannelMembers));
export const alertChannelAnswer = component('AlertChannel', table.answerShape(alertChannelMembers));

export const createAlertChannelBody = createAlertChannelSchema.extend({
  config: withExample(
    z.union(Object.values(channelConfigSchemas)),
    { emails: 'ops@example.com' },
    'Channel configuration. The fields depend on `type`.',
  ),
});
