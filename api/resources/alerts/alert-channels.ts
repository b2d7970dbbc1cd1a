import { z } from 'zod';
import {
  CHANNEL_SECRET,
  channelConfigSchemas,
  type ChannelType,
  INCIDENT_TYPES,
} from '../../../core/messages/channel.ts';
import { recipients } from '../../../core/messages/route-mails.ts';
import type { AlertMessage } from '../../../core/messages/message.ts';
import { newId } from '../../../core/text/ids.ts';
import {
  existingIds,
  openChannel,
  openConfig,
  type StoredConfig,
  noteArrived,
  noteOver,
} from '../../../db/messages/alert-channels.ts';
import { AlertChannel } from '../../../db/records/entities.ts';
import { WITHHELD } from '../../../outbound/messages.ts';
import { keepRedactedMembers, NEEDS_FULL_SECRET, redactMembers } from '../../../core/text/redaction.ts';
import { type ApiDeps, callerOf, type Context, organizationId } from '../../request/context.ts';
import { noteRecords, recordAhead } from '../../auth/audit-trail.ts';
import { invalid } from '../../request/errors.ts';
import { requireRecordRoom } from '../../auth/request-and-record-limits.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { booleanParam } from '../../request/query.ts';
import { checkMember, parseBody } from '../../request/validation.ts';
import { UNCHANGEABLE } from '../destinations/destination-members.ts';
import { crudOperations, showOne } from '../crud.ts';
import * as field from '../fields.ts';
import { toAnswer } from '../table.ts';
import { latency, text, withExample } from '../values.ts';
import { changeRecord, finder, matching, searchParams, stillValid, transactional } from '../records.ts';
import { refuseOwnChannel } from '../routes/route-record.ts';
import { rotation, signingSecretBody } from '../sources/secret-rotation.ts';
import {
  alertChannelAnswer,
  alertChannelDefaults,
  alertChannelMembers,
  createAlertChannelBody,
  createAlertChannelSchema,
  updateAlertChannelSchema,
} from './alert-channel-members.ts';
import { requireRecipients, withheldEmails } from './notification-recipients.ts';

const testResult = z
  .union([
    z.object({
      success: z.literal(true),
      statusCode: withExample(z.int().nullable(), 200, 'The status code of the response. Null for emails.'),
      latency,
      responseBody: text('ok').nullable(),
      message: text('The test message was sent'),
    }),
    z.object({
      success: z.literal(false),
      statusCode: z.int().nullable(),
      latency,
      responseBody: z.string().nullable(),
      error: text('The channel returned 410'),
      message: text('The test message failed: The channel returned 410'),
    }),
  ])
  .meta({ id: 'AlertTestResult' });

const find = finder(AlertChannel, 'alert channel', 'alc');
const base = '/api/alert-channels';
const common = { tag: 'Alerts', idOf: ['alc'] } as const;
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const alertChannelOperations: Operation[] = [
  ...crudOperations({
    tag: common.tag,
    base,
    name: 'AlertChannel',
    noun: 'alert channel',
    answer: alertChannelAnswer,
    entity: AlertChannel,
    find,
    show: showAll,
    list: {
      query: z.object({ ...searchParams('name'), enabled: booleanParam }),
      where: (query) => matching(query, 'name'),
    },
    create: {
      async run(ctx) {
        const { config, ...body } = await parseBody(ctx, createAlertChannelSchema);
        refuseOwnChannel(ctx.deps, config);
        const id = newId('alc');
        noteRecords(ctx, [id]);
        const record = {
          ...alertChannelDefaults,
          ...field.sent(body),
          ...sealConfig(ctx.deps, id, body.type, config, null),
          ...{ id, organizationId: organizationId(ctx), name: body.name, type: body.type },
        };
        await requireValid(ctx, record);
        await requireRecipients(ctx, record.notifyEmails, 'config.emails');
        return transactional(ctx, async (em) => {
          await requireRecordRoom(em, ctx, 'alertChannels');
          return em.create(AlertChannel, record);
        });
      },
      body: {
        schema: createAlertChannelBody,
        examples: {
          mail: { name: 'Team', type: 'mail', config: { emails: 'ops@example.com' }, digestMinutes: 60 },
          webhook: { name: 'Internal tool', type: 'webhook', config: { url: 'https://alerts.example/hooks', secret } },
          slack: {
            name: 'Team channel',
            type: 'slack',
            config: { url: 'https://hooks.slack.com/services/T000/B000/XXXX' },
            kinds: ['delivery_failing', 'circuit_open'],
            quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' },
          },
          pagerduty: {
            name: 'On call',
            type: 'pagerduty',
            config: { routingKey: 'R0123456789ABCDEFGHIJKLMNOPQRSTU', severity: 'critical' },
            afterCount: 10,
          },
        },
      },
      errors: { 400: ['INVALID_URL'] },
    },
    update: {
      async run(ctx) {
        const { config, type, ...body } = await parseBody(ctx, updateAlertChannelSchema);
        const patch = field.sent(body);
        const found = await find.ofPath(ctx);
        if (type !== undefined && type !== found.type) throw invalid('type', UNCHANGEABLE);
        refuseOwnChannel(ctx.deps, config ?? {});
        await requireValid(ctx, { ...patch, type: found.type });
        const checked = config && sealConfig(ctx.deps, found.id, found.type, config, found);
        await requireRecipients(ctx, checked?.notifyEmails, 'config.emails');
        return changeRecord(ctx, find, async (stored, em) => {
          const changed = config && changedConfig(ctx.deps, stored, config);
          if (changed) await noteOver(em, stored);
          em.assign(stored, { ...patch, ...changed }, { mergeObjectProperties: false });
        });
      },
      description: 'The entire `config` is replaced; a secret that is omitted or sent back masked is kept.',
      body: {
        schema: updateAlertChannelSchema,
        examples: { pause: { enabled: false }, throttle: { throttleMinutes: 60 } },
      },
      errors: { 400: ['INVALID_URL'] },
    },
    remove: {
      // A worker that gives up a message of the channel has locked that first: PostgreSQL rolls one of the two back.
      run: (ctx) =>
        changeRecord(ctx, find, async (stored, em) => {
          await noteOver(em, stored);
          em.remove(stored);
        }),
      description: 'Pending messages are not sent. Incidents that the channel opened in PagerDuty stay open.',
    },
  }),
  operation('testAlertChannel', 'post', `${base}/{id}/test`, {
    tag: common.tag,
    of: find,
    summary: 'Send a test message',
    description:
      "The message is sent immediately, regardless of the channel's filters, quiet hours and digests. Failures are reported in the response.",
    answer: { description: 'Whether the message was sent, with the latency and any error.', schema: testResult },
    run(ctx, { record: channel }) {
      const { organization } = callerOf(ctx);
      return ctx.deps.requests.run(organization, 'runningTests', async () => {
        await recordAhead(ctx);
        const { id, slug } = organization;
        const message: AlertMessage = {
          id: newId('alm'),
          at: new Date(),
          organization: { id, slug },
          channel: { id: channel.id, name: channel.name },
          content: { kind: 'test' },
          apiBase: '',
          hasConsole: false,
        };
        const opened = openChannel(ctx.deps.secretBox, channel);
        const result = await ctx.deps.sendAlert(opened, message, await mayGet(ctx, channel));
        if (result.ok) await noteArrived(ctx.deps.pool, channel);
        const { statusCode, latency, responseBody } = result;
        const answer = { statusCode, latency, responseBody };
        if (result.ok) return { success: true, ...answer, message: 'The test message was sent' };
        return {
          success: false,
          ...answer,
          error: result.detail,
          message: `The test message failed: ${result.detail}`,
        };
      });
    },
  }),
  operation('rotateAlertChannelSecret', 'post', `${base}/{id}/rotate-secret`, {
    ...common,
    versioned: true,
    summary: "Rotate an alert channel's signing secret",
    description:
      'For channels of type `webhook`. Until the overlap period ends, messages are signed with both the new and the previous secret.',
    body: { schema: signingSecretBody, examples: { 'within an hour': { secret, overlapSeconds: 3600 } } },
    answer: { description: 'The updated alert channel.', schema: alertChannelAnswer },
    async run(ctx, { body }) {
      const channel = await changeRecord(ctx, find, (stored, em) => {
        const current = openConfig(ctx.deps.secretBox, stored);
        if (current.type !== 'webhook')
          throw invalid('secret', 'cannot be rotated: only channels of type webhook have a signing secret');
        const { until, isRepeat } = rotation(body, current.secret, stored.previousSecretUntil ?? null);
        em.assign(stored, {
          ...(!isRepeat && {
            ...sealConfig(ctx.deps, stored.id, 'webhook', { url: current.url, secret: body.secret }, stored),
            previousSecret: ctx.deps.secretBox.encrypt(current.secret, stored.id),
          }),
          previousSecretUntil: until,
        });
      });
      return showOne(ctx, showAll, channel);
    },
  }),
];

/** What a new config changes: it may work, and what is set by an update counts alone and at once. */
function changedConfig(deps: ApiDeps, stored: AlertChannel, sent: Record<string, unknown>) {
  const columns = sealConfig(deps, stored.id, stored.type, sent, stored);
  const secretOf = (config: string | null | undefined) => {
    const opened = openConfig(deps.secretBox, { ...stored, ...columns, ...(config !== undefined && { config }) });
    return opened.type === 'webhook' ? opened.secret : '';
  };
  const isKept = secretOf(stored.config ?? null) === secretOf(columns.config);
  return {
    ...columns,
    ...{ failingSince: null, failedAt: null, lastError: null },
    ...(!isKept && { previousSecret: null, previousSecretUntil: null }),
  };
}

async function mayGet(ctx: Context, channel: AlertChannel): Promise<string[]> {
  const [withheld = []] = await withheldEmails(ctx, [channel]);
  return recipients(channel.notifyEmails ?? '').filter((each) => !withheld.includes(each));
}

type Rules = Partial<Pick<AlertChannel, 'sourceIds' | 'routeIds' | 'destinationIds' | 'digestMinutes'>> &
  Pick<AlertChannel, 'type'>;

/** @throws ApiError 400 for a rule that has no meaning for the type, and records that do not exist */
async function requireValid(ctx: Context, rules: Rules): Promise<void> {
  const { type, digestMinutes } = rules;
  if (digestMinutes != null && INCIDENT_TYPES.includes(type))
    throw invalid('digestMinutes', `must be null for ${type}, which opens an incident for each issue`);
  for (const table of ['sources', 'routes', 'destinations'] as const) {
    const member = `${table.slice(0, -1)}Ids` as 'sourceIds' | 'routeIds' | 'destinationIds';
    const ids = rules[member];
    if (!ids) continue;
    const existing = await existingIds(ctx.deps.pool, table, organizationId(ctx), ids);
    if (ids.some((id) => !existing.has(id)))
      throw invalid(member, `must contain only IDs of ${table} in this organization`);
  }
}

async function showAll(ctx: Context, channels: AlertChannel[]): Promise<object[]> {
  const withheld = await withheldEmails(ctx, channels);
  return channels.map((channel, index) => {
    const withheldEmails = withheld[index] ?? [];
    return toAnswer(alertChannelMembers, channel, {
      config: shownConfig(ctx.deps, channel),
      withheldEmails,
      lastError: channel.lastError ?? (reachesNobody(channel, withheldEmails) ? WITHHELD : null),
      previousSecretUntil: stillValid(channel.previousSecretUntil),
    });
  });
}

const reachesNobody = ({ notifyEmails }: AlertChannel, withheld: string[]): boolean =>
  Boolean(notifyEmails) && recipients(notifyEmails ?? '').length === withheld.length;

type Deps = Pick<ApiDeps, 'secretBox'>;

/**
 * The columns of a config.
 * @param sent a secret that is left out or sent back masked keeps the stored one
 * @throws ApiError 400
 */
function sealConfig(
  deps: Deps,
  id: string,
  type: ChannelType,
  sent: Record<string, unknown>,
  stored: StoredConfig | null,
): { config: string | null; notifyEmails: string | null } {
  const schema: z.ZodType<object> = channelConfigSchemas[type];
  const config = checkMember('config', schema, withSecret(deps, type, sent, stored));
  if (type === 'mail') return { config: null, notifyEmails: (config as { emails: string }).emails };
  return { config: deps.secretBox.encrypt(JSON.stringify(config), id), notifyEmails: null };
}

// The masked secret is replaced first: the mask itself is not valid.
function withSecret(deps: Deps, type: ChannelType, sent: Record<string, unknown>, stored: StoredConfig | null) {
  const member = CHANNEL_SECRET[type];
  if (member === null) return sent;
  const known: Record<string, unknown> | null = stored && { ...openConfig(deps.secretBox, stored) };
  const kept = keepRedactedMembers({ ...(known && { [member]: known[member] }), ...sent }, [member], known);
  if (!kept.ok) throw invalid(`config.${member}`, NEEDS_FULL_SECRET);
  return kept.config;
}

function shownConfig(deps: Deps, stored: StoredConfig): Record<string, string> {
  const { type, ...config } = openConfig(deps.secretBox, stored);
  return redactMembers<string>(config, [CHANNEL_SECRET[type] ?? []].flat());
}
