// What a channel of alerts holds.
import { z } from 'zod';
import { CHANNEL_TYPES, channelConfigSchemas, isTimeZone } from '../../../core/messages/channel.ts';
import { ISSUE_KINDS } from '../../../core/messages/issues.ts';
import type { AlertChannel } from '../../../db/records/entities.ts';
import { UNCHANGEABLE } from '../destinations/destination-members.ts';
import * as field from '../fields.ts';
import {
  answerShape,
  computed,
  createShape,
  defaultsOf,
  membersOf,
  optional,
  readOnly,
  required,
  sealed,
  updateShape,
} from '../table.ts';
import { flag, idOf, text, timestamp } from '../values.ts';

const MAX_IDS = 100;
const DAY_MINUTES = 1440;
// So that what fails now and then does not tell its end, and that it is back, every minute.
const DEFAULT_THROTTLE_MINUTES = 15;

// Its shape depends on the type, which an update may omit: checked once that is known (resources/alert-channels.ts).
const config = z.record(z.string(), z.unknown());
const shownConfig = z.record(z.string(), z.string()).meta({
  description:
    'Its secrets are shown as •••• and their last four characters: the addresses of Slack and Teams are secrets.',
  examples: [{ url: 'https://alerts.example/hooks', secret: '••••aLSw' }],
});

const type = {
  create: z.enum(CHANNEL_TYPES),
  update: z.enum(CHANNEL_TYPES, UNCHANGEABLE).optional(),
  answer: z.enum(CHANNEL_TYPES),
  isStored: true,
} as const;

const atLeastOne = 'must name at least one; null stands for all';
const kinds = z
  .array(z.enum(ISSUE_KINDS))
  .min(1, atLeastOne)
  .max(ISSUE_KINDS.length)
  .nullable()
  .meta({ description: 'Of issues. Null: all.', examples: [['delivery_failing', 'circuit_open']] });
const idsOf = (what: string, example: null) =>
  z
    .array(z.string())
    .min(1, atLeastOne)
    .max(MAX_IDS)
    .nullable()
    .meta({ description: `Only issues of these ${what}. Null: all.`, examples: [example] });
const shownIds = (...prefixes: string[]) => z.array(idOf(...prefixes)).nullable();

const clock = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:00')
  .meta({ examples: ['22:00'] });
const quietHours = z
  .object({
    from: clock,
    to: clock.meta({ examples: ['07:00'] }),
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'must be a time zone of the IANA database, such as Europe/Berlin')
      .meta({ examples: ['Europe/Berlin'] }),
  })
  .refine(({ from, to }) => from !== to, 'must not begin when they end')
  .nullable()
  .meta({ description: 'Every day. What changes meanwhile, and is not undone, is told afterwards.', examples: [null] });

/** Clients may send what is `required`, `optional` or `sealed`; the others are read-only. */
export const alertChannelMembers = membersOf<Omit<AlertChannel, 'previousSecret' | 'notifyEmails' | 'failedAt'>>()({
  id: readOnly(idOf('alc')),
  name: required(field.name.meta({ examples: ['On call'] })),
  type,
  config: sealed(config, { answer: shownConfig }),
  enabled: optional(field.enabled, true),
  kinds: optional(kinds, null),
  sourceIds: optional(idsOf('sources', null), null, { answer: shownIds('src') }),
  routeIds: optional(idsOf('routes', null), null, { answer: shownIds('rte') }),
  destinationIds: optional(idsOf('destinations', null), null, { answer: shownIds('dst', 'dst_wh') }),
  afterCount: optional(
    z
      .int()
      .min(1)
      .max(1_000_000)
      .meta({ description: 'An issue is told from this count on.', examples: [1] }),
    1,
  ),
  onAcknowledged: optional(flag(false, 'Whether it is told that somebody acknowledged an issue.'), false),
  onResolved: optional(flag(true, 'Whether it is told that an issue was resolved or ignored.'), true),
  throttleMinutes: optional(
    z
      .int()
      .min(0)
      .max(DAY_MINUTES)
      .meta({ description: 'Between two messages about an issue.', examples: [DEFAULT_THROTTLE_MINUTES] }),
    DEFAULT_THROTTLE_MINUTES,
  ),
  quietHours: optional(quietHours, null),
  digestMinutes: optional(
    z
      .int()
      .min(1)
      .max(DAY_MINUTES)
      .nullable()
      .meta({
        description: 'Minutes between digests, each of which has all changes. Null: one message per change.',
        examples: [null],
      }),
    null,
  ),
  withheldEmails: computed(
    z.array(text('ops@example.com')).meta({
      description:
        'Addresses that get no mail: their owners have not agreed, or the operator does not accept their domain.',
      examples: [[]],
    }),
  ),
  previousSecretUntil: readOnly(
    timestamp.nullable().meta({ description: 'Until then webhooks are signed with the secret before this one too.' }),
  ),
  failingSince: readOnly(
    timestamp.nullable().meta({ description: 'Since when its messages were given up; null after one that arrived.' }),
  ),
  lastError: readOnly(text('The channel answered 410').nullable()),
  lastSentAt: readOnly(timestamp.nullable()),
  createdAt: readOnly(timestamp),
  updatedAt: readOnly(timestamp),
});

/** Defaults of a new channel. */
export const alertChannelDefaults = defaultsOf(alertChannelMembers);

export const createAlertChannelSchema = z.object({ ...createShape(alertChannelMembers), config });
export const updateAlertChannelSchema = z.object(updateShape(alertChannelMembers));
export const alertChannelAnswer = z.object(answerShape(alertChannelMembers)).meta({ id: 'AlertChannel' });

/** The body of a create, its config described by its type. */
export const createAlertChannelBody = createAlertChannelSchema.extend({
  config: z
    .union(Object.values(channelConfigSchemas))
    .meta({ description: 'What it holds depends on `type`.', examples: [{ emails: 'ops@example.com' }] }),
});
