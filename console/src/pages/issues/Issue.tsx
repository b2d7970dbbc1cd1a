// One issue: what fails, why, since when, a sample of it, and what can be done.
import { Alert, Button, Group, Text } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import type { Issue } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAct, useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { Count } from '../../components/Count.tsx';
import { Deed } from '../../components/Deed.tsx';
import { Facts } from '../../components/Facts.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Loaded } from '../../components/Loaded.tsx';
import { Name } from '../../components/Name.tsx';
import { useNames } from '../../components/names.tsx';
import { Page } from '../../components/Page.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, plain } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { canRetry, KINDS } from './kinds.ts';

const AGAIN_MS = 5000;

export function IssuePage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const answer = useAsk('getIssue', { id }, { every: AGAIN_MS });
  const issue = answer.data;
  return (
    <Page
      title={issue ? `${KINDS[issue.kind].title}: ${plain(issue.cause)}` : 'Issue'}
      actions={
        <>
          {issue && <Actions issue={issue} />}
          <CopyMenu call={{ name: 'getIssue', input: { id } }} />
        </>
      }
    >
      <Loaded answer={answer}>{(one) => <Shown issue={one} />}</Loaded>
    </Page>
  );
}

function Shown({ issue }: { issue: Issue }) {
  const sourceName = useNames('listSources');
  const routeName = useNames('listRoutes');
  const destinationName = useNames('listDestinations');
  const { sourceId, routeId, destinationId, sampleDeliveryId, sampleEventId } = issue;
  const maySeeDeliveries = useMay('deliveries:read');
  return (
    <>
      <Text className="anywhere quiet" size="sm">
        {issue.id}
      </Text>
      <Group gap="md">
        <Status of={issue.state} />
        <Text>
          {countText(issue.count)} {issue.count === 1 ? 'failure' : 'failures'}, the last <Time at={issue.lastSeenAt} />
        </Text>
      </Group>
      <Alert color={issue.state === 'resolved' ? 'green' : 'orange'} title="What helps" my="sm">
        {KINDS[issue.kind].help}
      </Alert>
      <Facts
        of={[
          sourceId !== null && ['Source', <Name key="source" id={sourceId} name={sourceName(sourceId)} />],
          routeId !== null && ['Route', <Name key="route" id={routeId} name={routeName(routeId)} />],
          destinationId !== null && [
            'Destination',
            <Name key="destination" id={destinationId} name={destinationName(destinationId)} />,
          ],
          ['Cause', plain(issue.cause)],
          ['First failure', <Time key="first" at={issue.firstSeenAt} />],
          ['Last failure', <Time key="last" at={issue.lastSeenAt} />],
          ['Opened', <Time key="opened" at={issue.openedAt} />],
          issue.resolvedAt !== null && ['Resolved', <Time key="resolved" at={issue.resolvedAt} />],
          ['State changed', <Time key="changed" at={issue.changedAt} />],
          sampleDeliveryId !== null && ['A delivery that failed', <Name key="delivery" id={sampleDeliveryId} />],
          sampleEventId !== null && ['Its event', <Name key="event" id={sampleEventId} />],
        ]}
      />
      <Group>
        {maySeeDeliveries && canRetry(issue) && <FailedThere issue={issue} />}
        {issue.kind === 'quota_reached' && <Link to="/usage">Usage</Link>}
      </Group>
    </>
  );
}

/** The deliveries that failed where the issue is: the list and the count say the same. */
function failedThere({ routeId, destinationId, kind }: Issue) {
  return {
    ...(routeId !== null && { routeId }),
    ...(destinationId !== null && { destinationId }),
    status: kind === 'schema_refusing' ? ('schema_failed' as const) : ('failed' as const),
  };
}

function FailedThere({ issue }: { issue: Issue }) {
  const input = failedThere(issue);
  return (
    <Link to="/deliveries" search={{ ...input, range: 'all' } as never}>
      <Count list="listDeliveries" input={input} one="delivery has failed there" many="deliveries have failed there" />
    </Link>
  );
}

const STEPS: Record<Issue['state'], [state: Issue['state'], verb: string][]> = {
  open: [
    ['acknowledged', 'Acknowledge'],
    ['resolved', 'Resolve'],
    ['ignored', 'Ignore'],
  ],
  acknowledged: [
    ['resolved', 'Resolve'],
    ['ignored', 'Ignore'],
    ['open', 'Open again'],
  ],
  ignored: [
    ['open', 'Open again'],
    ['resolved', 'Resolve'],
  ],
  resolved: [['open', 'Open again']],
};

function Actions({ issue }: { issue: Issue }) {
  const { id } = issue;
  const mayWrite = useMay('issues:write');
  const mayDeliver = useMay('deliveries:write');
  const change = useAct('updateIssue', ['getIssue', 'listIssues']);
  if (!mayWrite) return null;
  return (
    <>
      {change.error && <Failed error={change.error} />}
      {mayDeliver && canRetry(issue) && <Retry issue={issue} />}
      {STEPS[issue.state].map(([state, verb]) => (
        <Button
          key={state}
          size="xs"
          variant="default"
          disabled={change.isPending}
          onClick={() => change.mutate({ id, body: { state } })}
        >
          {verb}
        </Button>
      ))}
    </>
  );
}

/** How many deliveries a retry would make: of those that one look finds. */
function Found({ id }: { id: string }) {
  const { data, error } = useAsk('retryIssue', { id, body: { dryRun: true } });
  if (error) return <Failed error={error} />;
  if (!data) return <Text>Counting what failed …</Text>;
  return (
    <Text>
      <strong>{countText(data.deliveriesFound)}</strong> {data.deliveriesFound === 1 ? 'delivery' : 'deliveries'} failed
      and can be made again{data.more && ', and there may be more'}.
    </Text>
  );
}

function Retry({ issue }: { issue: Issue }) {
  return (
    <Deed
      label="Retry what failed"
      verb="Retry it"
      variant="filled"
      run={async () => {
        const { deliveriesCreated, more } = await call('retryIssue', { id: issue.id });
        const made = `${countText(deliveriesCreated)} ${deliveriesCreated === 1 ? 'delivery was' : 'deliveries were'} made`;
        return more ? `${made}; there may be more: retry again` : made;
      }}
    >
      <Found id={issue.id} />
      <Text>
        What has failed since <Time at={issue.firstSeenAt} /> with this cause, and was not replayed, is delivered again:
        at most 1,000 deliveries at a time, the newest first. Repair the cause first, or they fail again.
      </Text>
    </Deed>
  );
}
