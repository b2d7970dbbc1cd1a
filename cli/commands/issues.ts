// hookyard issues: failures that last; and hookyard alert-channels, which notify of them.
import type { Command } from 'commander';
import { given, secretOf } from '../input.ts';
import { showDone } from '../show.ts';
import { type Call, type Resource, type Row, valuesOf } from './operation.ts';

const CHANGES = {
  acknowledge: { state: 'acknowledged', about: 'acknowledge it' },
  ignore: { state: 'ignored', about: 'ignore it; occurrences are still counted' },
  resolve: { state: 'resolved', about: 'resolve it; another failure opens a new one' },
  open: { state: 'open', about: 'open it again' },
} as const;

export const issues: Resource = {
  ...{ name: 'issues', tag: 'Issues', one: 'issue', about: 'lasting failures: what, since when, and how often' },
  rows: [
    {
      operation: 'listIssues',
      about: 'list issues, most recently opened first',
      columns: {
        ...{ id: 'id', kind: 'kind', cause: 'cause', state: 'state', count: 'count', last: 'lastSeenAt' },
        of: 'destinationId|routeId|sourceId',
      },
    },
    ...Object.entries(CHANGES).map(
      ([name, { state, about }]): Row => ({
        operation: 'updateIssue',
        ...{ name, about, flags: { state: null } },
        prepare({ body }) {
          body.state = state;
        },
        done: '{_} is {state}',
      }),
    ),
    {
      operation: 'retryIssue',
      about: 'replay the deliveries that failed because of it',
      flags: { before: null, dryRun: ['--dry-run', 'count only, deliver nothing'] },
      run: retry,
    },
  ],
};

/** All of it, in steps of the API. */
async function retry({ context, path: { id = '' }, body: { dryRun } }: Call): Promise<void> {
  const step = (body: object) => context.client.retryIssue({ id, body: { ...body, dryRun: dryRun === true } });
  const first = await step({});
  let { deliveriesFound, deliveriesCreated, next } = first;
  while (next !== null) {
    const further = await step({ before: next });
    deliveriesFound += further.deliveriesFound;
    deliveriesCreated += further.deliveriesCreated;
    ({ next } = further);
  }
  const all = dryRun
    ? `${deliveriesFound} deliveries would be made again`
    : `${deliveriesCreated} deliveries were created`;
  const message = first.more ? all : first.message;
  showDone(context, { ...first, message, deliveriesFound, deliveriesCreated, more: false, next }, message);
}

const MEMBERS = {
  flags: {
    type: ['--type <type>', valuesOf('createAlertChannel', 'type').join(', ')],
    config: null,
    kinds: ['--kind <kind>', 'only issues of this kind; repeatable'],
    afterCount: ['--after <n>', 'notify from this count on (1)'],
    throttleMinutes: ['--throttle <minutes>', 'minimum minutes between two messages about an issue (15)'],
    digestMinutes: ['--digest <minutes>', 'minutes between digests of all changes'],
  },
  extra: (command: Command) =>
    command
      .option('--emails <addresses>', 'of mail, separated by commas')
      .option('--to <url>', 'of a webhook, or the one that Slack or Teams gave; @file reads a file')
      .option('--secret <secret>', 'of a webhook: whsec_...; @file reads a file')
      .option('--key <key>', 'integration key of PagerDuty; @file reads a file'),
  prepare: setConfig,
} as const;

export const alertChannels: Resource = {
  ...{ name: 'alert-channels', tag: 'Alerts', one: 'alert-channel' },
  about: 'notification channels for issues',
  rows: [
    {
      operation: 'listAlertChannels',
      about: 'list channels, newest first',
      columns: {
        ...{ name: 'name', id: 'id', type: 'type', enabled: 'enabled' },
        ...{ 'last sent': 'lastSentAt', 'failing since': 'failingSince' },
      },
    },
    {
      operation: 'createAlertChannel',
      about: 'create a channel; pass further members with --data',
      args: ['name'],
      ...MEMBERS,
      done: '{name} was created ({id})',
      after({ context }, { lastError }: { lastError: string | null }) {
        if (lastError !== null) context.output.note(`nobody would be told: ${lastError}`);
      },
    },
    { operation: 'updateAlertChannel', ...MEMBERS },
    { operation: 'testAlertChannel', about: 'send it a test message', done: '{message} ({latency} ms)' },
  ],
};

interface ChannelOptions {
  emails?: string;
  to?: string;
  secret?: string;
  key?: string;
}

async function setConfig({ context, path: { id }, body, options }: Call): Promise<void> {
  const { emails, ...files } = options as ChannelOptions;
  const [url, secret, key] = [files.to, files.secret, files.key].map(secretOf);
  if (emails === undefined && url === undefined && secret === undefined && key === undefined) return;
  const type = id === undefined ? body.type : (await context.client.getAlertChannel({ id })).type;
  const ofKey = type === 'pagerduty' ? { routingKey: key } : { apiKey: key };
  body.config = { ...(body.config as object), ...given({ emails, url, secret, ...ofKey }) };
}
