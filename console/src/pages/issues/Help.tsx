// What fixes an issue: steps, each with the page on which it is done.
import { Link } from '@tanstack/react-router';
import type { Issue } from '@hookyard/client';
import type { ReactNode } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { Name, PageLink } from '../../components/ui.tsx';
import { countText, plural } from '../../format.ts';
import { canRetry } from '../../words/issues.ts';

const AGAIN_MS = 15_000;

/**
 * The deliveries that failed with its cause: `3 failed deliveries`, with a `+` where one look does not find all; null:
 * none.
 */
export function useFailed(issue: Issue): string | null {
  const mayIssues = useMay('issues:write');
  const mayDeliver = useMay('deliveries:write');
  const input = { id: issue.id, body: { dryRun: true } };
  const isAsked = mayIssues && mayDeliver && canRetry(issue);
  const { data } = useAsk('retryIssue', input, { enabled: isAsked, every: AGAIN_MS });
  if (!data || data.deliveriesFound === 0) return null;
  return plural(data.deliveriesFound, 'failed delivery', `${countText(data.deliveriesFound)}${data.more ? '+' : ''}`);
}

export function Help({ issue }: { issue: Issue }) {
  const failed = useFailed(issue);
  const steps = [
    ...STEPS[issue.kind](issue),
    failed !== null && (
      <>
        Replay{' '}
        <PageLink
          to="/deliveries"
          search={{
            ...{ routeId: issue.routeId, destinationId: issue.destinationId, range: 'all' },
            status: issue.kind === 'schema_refusing' ? 'schema_failed' : 'failed',
          }}
        >
          {failed}
        </PageLink>
        .
      </>
    ),
  ];
  return (
    <div className="stack">
      <ol className="steps">
        {steps.filter(Boolean).map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a kind stay the same
          <li key={index}>
            <div className="step">
              <span>{step}</span>
            </div>
          </li>
        ))}
      </ol>
      <p className="small quiet">
        {issue.kind === 'circuit_open' ? (
          'The issue resolves automatically when the circuit breaker closes.'
        ) : (
          <>
            {canRetry(issue) && <Waiting of={issue} />}The issue resolves automatically about a minute after the first
            success.
          </>
        )}
      </p>
    </div>
  );
}

/** The deliveries of where it is. */
export const placeIn = ({ routeId, destinationId }: Issue) => ({
  ...(routeId !== null && { routeId }),
  ...(destinationId !== null && { destinationId }),
});

/** What becomes of the deliveries that wait. */
function Waiting({ of: issue }: { of: Issue }) {
  const options = { enabled: useMay('deliveries:read'), every: AGAIN_MS };
  const retrying = useAsk('listDeliveries', { ...placeIn(issue), status: 'retrying', pageSize: 1 }, options).data;
  const held = useAsk('listDeliveries', { ...placeIn(issue), status: 'circuit_open', pageSize: 1 }, options).data;
  return (
    <>
      {(retrying?.pagination.total ?? 0) > 0 && 'Retrying deliveries are sent automatically. '}
      {(held?.pagination.total ?? 0) > 0 &&
        'Held deliveries are sent when the circuit breaker closes or the pause ends. '}
    </>
  );
}

type Subject = 'source' | 'route' | 'destination';

/** `route Orders to CRM`, with its page. */
const the = (issue: Issue, what: Subject): ReactNode => {
  const record = issue[what];
  return record ? (
    <>
      {what} <Name id={record.id} name={record.name} />
    </>
  ) : (
    `the ${what}`
  );
};

const seeSample = ({ sampleDeliveryId }: Issue, what: string): ReactNode => (
  <>
    {what}:{' '}
    {sampleDeliveryId === null ? (
      'open a failed delivery'
    ) : (
      <Link to={`/deliveries/${sampleDeliveryId}`}>last failed delivery</Link>
    )}
    .
  </>
);

const refusedOf = (issue: Issue): ReactNode =>
  issue.source ? (
    <Link to={`/sources/${issue.source.id}`} search={{ tab: 'refused-webhooks' } as never}>
      refused webhooks of the source
    </Link>
  ) : (
    'refused webhooks of the source'
  );

const STEPS: Record<Issue['kind'], (issue: Issue) => ReactNode[]> = {
  delivery_failing: (issue) => [
    seeSample(issue, 'Compare request and response'),
    <>
      Fix the receiving service, or edit the URL and credentials of {the(issue, 'destination')}. Check it with “Send
      test webhook”.
    </>,
  ],
  circuit_open: (issue) => [
    <>
      Fix the cause:{' '}
      <Link to="/issues" search={{ routeId: issue.routeId ?? undefined, kind: 'delivery_failing' } as never}>
        other issues of the route
      </Link>
      .
    </>,
    <>
      Held deliveries are sent once the destination responds. To skip the wait, open {the(issue, 'route')} and choose
      “Resume now”.
    </>,
  ],
  transform_failing: (issue) => [
    seeSample(issue, 'Check the error'),
    <>
      Fix the transform of {the(issue, 'route')}.{' '}
      {issue.routeId !== null && issue.sampleEventId !== null && (
        <Link to={`/routes/${issue.routeId}`} search={{ tab: 'preview', event: issue.sampleEventId } as never}>
          Test it with the failing event
        </Link>
      )}
    </>,
  ],
  schema_refusing: (issue) => [
    seeSample(issue, 'Check the error'),
    <>Fix the schema of {the(issue, 'route')}, or the payloads of the sender.</>,
  ],
  signature_failing: (issue) => [
    <>Review the {refusedOf(issue)}.</>,
    <>Edit {the(issue, 'source')} and enter the secret its sender signs with.</>,
    'Refused webhooks are not stored. Ask the sender to send them again.',
  ],
  warehouse_not_writable: (issue) => [
    <>Check the error of the last file on {the(issue, 'destination')}.</>,
    'Fix the bucket, credentials or permissions. Check with “Write test file”. Waiting files are written automatically.',
  ],
  order_blocked: (issue) => [
    seeSample(issue, 'Check the error of the delivery that blocks its ordering key'),
    <>Fix {the(issue, 'destination')}, then retry the issue: the delivery takes its old place.</>,
  ],
  quota_reached: () => [
    <>
      Check your usage: <Link to="/usage">Usage</Link>.
    </>,
    'Send less, or ask the operator for a higher limit.',
  ],
  ingest_refused: (issue) => [<>Review the causes: {refusedOf(issue)}.</>],
  notification_failing: (issue) => [
    <>Check the notification addresses of {the(issue, 'route')}.</>,
    'If the addresses are correct, the mail server rejects them or is unreachable: contact the operator.',
  ],
};
