// One issue: what fails, why, since when, the steps that fix it, and what can be done.
import { Button } from '@mantine/core';
import type { Issue } from '@hookyard/client';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAct } from '../../api/queries.ts';
import { ConfirmedAction } from '../../components/actions.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Outcome, sinceNow } from '../../components/Outcome.tsx';
import { HeldBy } from '../../components/Pausing.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Callout, Card, Id, Name } from '../../components/ui.tsx';
import { plain, plural } from '../../format.ts';
import { placeOf, titleOf } from '../../words.ts';
import { Time } from '../../zone.tsx';
import { Help, placeIn, useFailed } from './Help.tsx';

export function IssuePage() {
  const [retriedAt, setRetriedAt] = useState<string | null>(null);
  const mayDeliveries = useMay('deliveries:read');
  return (
    <RecordPage
      get="getIssue"
      what="issue"
      titleOf={(issue) => plain(titleOf(issue))}
      status={({ state }) => state}
      note={(issue) => (
        <>
          <bdi>{plain(placeOf(issue))}</bdi> · last failure <Time at={issue.lastSeenAt} />
        </>
      )}
      actions={(issue) => <Actions issue={issue} />}
      facts={(issue) => ({
        Source: issue.source && <Name {...issue.source} />,
        Route: issue.route && <Name {...issue.route} />,
        Destination: issue.destination && <Name {...issue.destination} />,
        'First seen': <Time at={issue.firstSeenAt} exact />,
        'Last seen': <Time at={issue.lastSeenAt} exact />,
        Resolved: issue.resolvedAt !== null && <Time at={issue.resolvedAt} exact />,
        'Sample delivery': issue.sampleDeliveryId !== null && <Id of={issue.sampleDeliveryId} />,
        'Sample event': issue.sampleEventId !== null && <Id of={issue.sampleEventId} />,
      })}
    >
      {(issue) => (
        <>
          {retriedAt !== null && mayDeliveries && <Outcome where={placeIn(issue)} since={retriedAt} />}
          {(issue.routeId !== null || issue.kind === 'order_blocked') && <HeldBy {...placeIn(issue)} />}
          <Remedy issue={issue} onRetry={setRetriedAt} />
          <details>
            <summary>What the states mean</summary>
            <ul>
              {Object.entries(STATES).map(([state, meaning]) => (
                <li key={state}>
                  <strong>{state}</strong>: {meaning}
                </li>
              ))}
            </ul>
          </details>
        </>
      )}
    </RecordPage>
  );
}

const STATES = {
  Open: 'no one is working on the issue yet.',
  Acknowledged: 'someone is working on the issue. It still resolves automatically.',
  Ignored: 'failures are counted, but no one is notified and the issue does not resolve automatically.',
  Resolved: 'fixed, or closed by a user. If the failure recurs within an hour, the issue reopens.',
};

const STEPS: Record<Issue['state'], [state: Issue['state'], verb: string][]> = {
  open: [
    ['acknowledged', 'Acknowledge'],
    ['resolved', 'Resolve'],
    ['ignored', 'Ignore'],
  ],
  acknowledged: [
    ['resolved', 'Resolve'],
    ['ignored', 'Ignore'],
    ['open', 'Reopen'],
  ],
  ignored: [
    ['open', 'Reopen'],
    ['resolved', 'Resolve'],
  ],
  resolved: [['open', 'Reopen']],
};

function Actions({ issue }: { issue: Issue }) {
  const { id } = issue;
  const mayWrite = useMay('issues:write');
  const change = useAct('updateIssue');
  if (!mayWrite) return null;
  return (
    <>
      {change.error && <Failed error={change.error} />}
      {STEPS[issue.state].map(([state, verb]) => (
        <Button
          key={state}
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

/** What fixes it; of one that is resolved what is left to replay. */
function Remedy({ issue, onRetry }: { issue: Issue; onRetry: (since: string) => void }) {
  const failed = useFailed(issue);
  const isResolved = issue.state === 'resolved';
  const retry = async () => {
    const since = await sinceNow(placeIn(issue));
    const result = await call('retryIssue', { id: issue.id });
    onRetry(since);
    return result;
  };
  const replay = failed && (
    <ConfirmedAction
      label={`Replay ${failed.what}`}
      title="Replay failed deliveries"
      verb="Replay deliveries"
      variant={isResolved ? 'filled' : 'default'}
      run={retry}
      said={({ deliveriesCreated, more }) =>
        `${plural(deliveriesCreated, 'delivery')} created${more ? '. Replay again for the rest.' : ''}`
      }
    >
      <p>
        Replays the issue's deliveries that have failed since <Time at={issue.firstSeenAt} exact />, newest first, up to
        1,000 at a time. Fix the cause first, or they will fail again.
      </p>
    </ConfirmedAction>
  );
  if (!isResolved)
    return (
      <Card title="How to fix it">
        <Help issue={issue} failed={failed}>
          {replay}
        </Help>
      </Card>
    );
  return (
    <>
      <Callout tone="ok" title="Resolved">
        If the failure recurs within an hour, the issue reopens.
      </Callout>
      {failed && (
        <Callout tone="warn" title={`${failed.what} not replayed`}>
          <div className="hold">
            <span className="grow">Failed deliveries are not sent again automatically.</span>
            {replay}
          </div>
        </Callout>
      )}
    </>
  );
}
