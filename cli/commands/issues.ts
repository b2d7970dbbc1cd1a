// hookyard issues: failures that last; and hookyard alert-channels, which notify of them.
import type { Command } from 'commander';
import { plural } from '../../core/text/words.ts';
import { given, secretOf } from '../input.ts';
import { showDone } from '../show.ts';
import { type Call, type Resource, type Row, valuesOf } from './operation.ts';

const CHANGES = {
  acknowledge: { state: 'acknowledged', about: 'Acknowledge an issue' },
  ignore: { state: 'ignored', about: 'Ignore an issue; further occurrences are still counted' },
  resolve: { state: 'resolved', about: 'Resolve an issue; another failure within an hour reopens it' },
  open: { state: 'open', about: 'Reopen an issue' },
} as const;

export const issues: Resource = {
  ...{ name: 'issues', tag: 'Issues', one: 'issue', about: 'Manage issues, which track failures' },
  rows: [
    {
      operation: 'listIssues',
      about: 'List issues, most recently opened first',
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
      about: "Replay an issue's failed deliveries",
      flags: { before: null, dryRun: ['--dry-run', 'Count the deliveries without replaying them'] },
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
    ? `${plural(deliveriesFound, 'delivery')} would be replayed, provided that ${deliveriesFound === 1 ? 'its payload and destination' : 'their payloads and destinations'} still exist`
    : `${plural(deliveriesCreated, 'delivery was', 'deliveries were')} created`;
  const message = first.more ? all : first.message;
  showDone(context, { ...first, message, deliveriesFound, deliveriesCreated, more: false, next }, message);
}

const MEMBERS = {
  flags: {
    type: ['--type <type>', `Channel type (${valuesOf('createAlertChannel', 'type').join(', ')})`],
    config: null,
    kinds: ['--kind <kind>', 'Only issues of this kind; repeatable'],
    afterCount: ['--after <n>', 'Number of failures at which the first message about an issue is sent (default: 1)'],
    throttleMinutes: ['--throttle <minutes>', 'Minimum minutes between messages about an issue (default: 15)'],
    digestMinutes: ['--digest <minutes>', 'Minutes between digests of changes to issues (not for PagerDuty)'],
  },
  extra: (command: Command) =>
    command
      .option('--emails <addresses>', 'Comma-separated email addresses')
      .option('--to <url>', 'Webhook URL (of Slack, Teams or your own service), or @file to read it from a file')
      .option('--secret <secret>', 'Webhook signing secret (whsec_...), or @file to read it from a file')
      .option('--key <key>', 'PagerDuty integration key, or @file to read it from a file'),
  prepare: setConfig,
} as const;

export const alertChannels: Resource = {
  ...{ name: 'alert-channels', tag: 'Alerts', one: 'alert-channel' },
  about: 'Manage alert channels, which receive messages about issues',
  rows: [
    {
      operation: 'listAlertChannels',
      about: 'List alert channels, newest first',
      columns: {
        ...{ name: 'name', id: 'id', type: 'type', enabled: 'enabled' },
        ...{ 'last sent': 'lastSentAt', 'failing since': 'failingSince' },
      },
    },
    {
      operation: 'createAlertChannel',
      about: 'Create an alert channel; set more fields with --data',
      args: ['name'],
      ...MEMBERS,
      done: '{name} was created ({id})',
      after({ context }, { lastError }: { lastError: string | null }) {
        if (lastError !== null) context.output.note(`The alert channel cannot receive messages: ${lastError}`);
      },
    },
    { operation: 'updateAlertChannel', ...MEMBERS },
    {
      operation: 'testAlertChannel',
      about: 'Send a test message to an alert channel',
      done: '{message} ({latency} ms)',
    },
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
