// hookyard issues: failures that last.
import type { Command } from 'commander';
import type { Client, Issue } from '../../client/index.ts';
import { ISSUE_KINDS, ISSUE_STATES } from '../../core/messages/issues.ts';
import { contextOf } from '../context.ts';
import { findDestination, findRoute, findSource, pageOf, withParts } from '../input.ts';
import { showDone, showPage, showRecord } from './show.ts';

type Filters = Omit<NonNullable<Parameters<Client['listIssues']>[0]>, 'page' | 'pageSize'>;

const CHANGES = {
  acknowledge: { state: 'acknowledged', about: 'somebody looks after it' },
  ignore: { state: 'ignored', about: 'it counts on, and stays ignored' },
  resolve: { state: 'resolved', about: 'it is over; another failure opens a new one' },
  open: { state: 'open', about: 'it is as it was when it opened' },
} as const;

export function addIssues(program: Command): void {
  const issues = program.command('issues').description('what keeps failing, since when, and how often');
  withParts(issues.command('list'))
    .description('list issues, the one that opened last first')
    .option('--state <state>', ISSUE_STATES.join(', '))
    .option('--kind <kind>', ISSUE_KINDS.join(', '))
    .option('--source <source>', 'name or id')
    .option('--route <route>', 'name or id')
    .option('--destination <destination>', 'name or id')
    .action(async (options, command: Command) => {
      const context = contextOf(command);
      const { client } = context;
      const filters: Filters = {
        state: options.state,
        kind: options.kind,
        sourceId: options.source && (await findSource(client, options.source)).id,
        routeId: options.route && (await findRoute(client, options.route)),
        destinationId: options.destination && (await findDestination(client, options.destination)),
      };
      const page = pageOf(options);
      const { cursor } = options;
      const answer = await (cursor === undefined
        ? client.listIssues({ ...filters, ...page })
        : client.listIssues({ ...filters, cursor, pageSize: page.pageSize }));
      showPage<Issue>(context, answer, {
        id: (issue) => issue.id,
        kind: (issue) => issue.kind,
        cause: (issue) => issue.cause,
        state: (issue) => issue.state,
        count: (issue) => issue.count,
        last: (issue) => issue.lastSeenAt,
        of: (issue) => issue.destinationId ?? issue.routeId ?? issue.sourceId,
      });
    });
  issues
    .command('show <id>')
    .description('show one')
    .action(async (id: string, _options, command: Command) => {
      const context = contextOf(command);
      showRecord(context, await context.client.getIssue({ id }));
    });
  for (const [name, { state, about }] of Object.entries(CHANGES)) {
    issues
      .command(`${name} <id>`)
      .description(about)
      .action(async (id: string, _options, command: Command) => {
        const context = contextOf(command);
        const issue = await context.client.updateIssue({ id, body: { state } });
        showDone(context, issue, `${id} is ${issue.state}`);
      });
  }
  issues
    .command('retry <id>')
    .description('deliver again what failed because of it')
    .option('--dry-run', 'count, and deliver nothing')
    .action(async (id: string, { dryRun }: { dryRun?: boolean }, command: Command) => {
      const context = contextOf(command);
      const step = (body: { before?: string }) => context.client.retryIssue({ id, body: { ...body, dryRun } });
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
    });
}
