// One issue: what fails, why, since when, a sample of it, and what can be done.
import { Alert, Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Issue } from 'hookyard/client';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAct, useAsk } from '../../api/queries.ts';
import { Count } from '../../components/Count.tsx';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { Facts } from '../../components/Facts.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Name } from '../../components/Name.tsx';
import { Outcome, sinceNow } from '../../components/Outcome.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, plain } from '../../format.ts';
import { canRetry, titleOf } from '../../words/issues.ts';
import { Time } from '../../zone.tsx';
import { Help } from './Help.tsx';

const AGAIN_MS = 5000;

export function IssuePage() {
  const [retriedAt, setRetriedAt] = useState<string | null>(null);
  return (
    <RecordPage
      get="getIssue"
      every={AGAIN_MS}
      title="Issue"
      titleOf={(issue) => plain(titleOf(issue))}
      actions={(issue) => <Actions issue={issue} onRetry={setRetriedAt} />}
    >
      {(issue) => <Shown issue={issue} retriedAt={retriedAt} />}
    </RecordPage>
  );
}

function Shown({ issue, retriedAt }: { issue: Issue; retriedAt: string | null }) {
  const { source, route, destination, sampleDeliveryId, sampleEventId } = issue;
  const maySeeDeliveries = useMay('deliveries:read');
  return (
    <>
      <Group gap="md">
        <Status of={issue.state} />
        <Text>
          {countText(issue.count)} {issue.count === 1 ? 'failure' : 'failures'}, the last <Time at={issue.lastSeenAt} />
        </Text>
      </Group>
      {retriedAt !== null && maySeeDeliveries && <Outcome where={placeIn(issue)} since={retriedAt} />}
      {issue.state === 'resolved' ? (
        <Alert color="green" title="It is over" my="sm">
          What failed works again, or somebody says so. Another failure within an hour opens it again.
        </Alert>
      ) : (
        <Alert color="orange" title="What helps" my="sm">
          <Help issue={issue} />
        </Alert>
      )}
      <Facts
        of={[
          source && ['Source', <Name key="source" {...source} />],
          route && ['Route', <Name key="route" {...route} />],
          destination && ['Destination', <Name key="destination" {...destination} />],
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
      {maySeeDeliveries && canRetry(issue) && (
        <Text>
          <FailedThere issue={issue} />, with those that were sent again since.
        </Text>
      )}
      <details>
        <summary>What the states mean</summary>
        <Facts of={STATE_WORDS} />
      </details>
    </>
  );
}

const STATE_WORDS: [string, string][] = [
  ['Open', 'Nobody has looked at it.'],
  ['Acknowledged', 'Somebody does: the others need not. It still resolves itself.'],
  ['Ignored', 'It counts on, and nobody wants to hear of it until somebody opens it again.'],
  ['Resolved', 'It is over: by itself, or because somebody says so. Another failure opens it again within an hour.'],
];

/** The deliveries of where it is. */
const placeIn = ({ routeId, destinationId }: Issue) => ({
  ...(routeId !== null && { routeId }),
  ...(destinationId !== null && { destinationId }),
});

/** The deliveries that failed where the issue is: the list and the count say the same. */
function failedThere(issue: Issue) {
  const status = issue.kind === 'schema_refusing' ? ('schema_failed' as const) : ('failed' as const);
  return { ...placeIn(issue), status };
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

function Actions({ issue, onRetry }: { issue: Issue; onRetry: (since: string) => void }) {
  const { id } = issue;
  const mayWrite = useMay('issues:write');
  const mayDeliver = useMay('deliveries:write');
  const change = useAct('updateIssue', ['getIssue', 'listIssues']);
  if (!mayWrite) return null;
  return (
    <>
      {change.error && <Failed error={change.error} />}
      {mayDeliver && canRetry(issue) && <Retry issue={issue} onRetry={onRetry} />}
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
      {data.deliveriesFound === 0 && !data.more && ' What waits is sent by itself.'}
    </Text>
  );
}

function Retry({ issue, onRetry }: { issue: Issue; onRetry: (since: string) => void }) {
  return (
    <ConfirmedAction
      label="Retry what failed"
      verb="Retry it"
      variant="filled"
      run={async () => {
        const since = await sinceNow(placeIn(issue));
        const { deliveriesCreated, more } = await call('retryIssue', { id: issue.id });
        onRetry(since);
        const made = `${countText(deliveriesCreated)} ${deliveriesCreated === 1 ? 'delivery was' : 'deliveries were'} made`;
        return more ? `${made}; there may be more: retry again` : made;
      }}
    >
      <Found id={issue.id} />
      <Text>
        What has failed since <Time at={issue.firstSeenAt} /> with this cause, and was not replayed, is delivered again:
        at most 1,000 deliveries at a time, the newest first. Repair the cause first, or they fail again.
      </Text>
    </ConfirmedAction>
  );
}
