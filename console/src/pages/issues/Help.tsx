// What fixes an issue: steps, each with the page on which it is done.
import { Link } from '@tanstack/react-router';
import type { Issue } from '@hookyard/client';
import type { ReactNode } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useSome } from '../../api/lists.ts';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { Mono, Name, PageLink } from '../../components/ui.tsx';
import { countText, plural, shortened } from '../../format.ts';
import { canRetry } from '../../words.ts';

/** Characters of a response. */
const MOST_SHOWN = 300;

/**
 * The deliveries that failed with its cause and have not been replayed: `3 failed deliveries`, with a `+` where one
 * look does not find all; null: none.
 */
export function useFailed(issue: Issue): { text: string; what: string } | null {
  const enabled = useMay('issues:write') && canRetry(issue);
  const input = { id: issue.id, body: { dryRun: true } };
  const { data } = useAsk('retryIssue', input, { enabled, scope: 'deliveries:write', every: AGAIN_MS });
  if (!data || data.deliveriesFound === 0) return null;
  const text = `${countText(data.deliveriesFound)}${data.more ? '+' : ''}`;
  return { text, what: plural(data.deliveriesFound, 'failed delivery', text) };
}

interface Props {
  issue: Issue;
  failed: ReturnType<typeof useFailed>;
  /** Replays what failed. */
  children: ReactNode;
}

/** What fixes an open issue. */
export function Help({ issue, failed, children }: Props) {
  const held = useWaiting(issue, 'circuit_open');
  const retrying = useWaiting(issue, 'retrying');
  const affected = Object.entries({ failed, held, retrying }).flatMap(([is, some]) =>
    some ? `${some.text} ${is}` : [],
  );
  const steps = [
    ...STEPS[issue.kind](issue),
    held &&
      `Resume ${plural(held.total, 'held delivery', held.text)}. While a circuit breaker is open, each probe uses up an attempt of the delivery that it sends.`,
    failed && (
      <>
        Replay the{' '}
        <PageLink
          to="/deliveries"
          search={{
            ...{ routeId: issue.routeId, destinationId: issue.destinationId, range: 'all', replayed: 'false' },
            status: issue.kind === 'schema_refusing' ? 'schema_failed' : 'failed',
          }}
        >
          {failed.what}
        </PageLink>
        .
      </>
    ),
  ].filter(Boolean);
  return (
    <div className="stack">
      {affected.length > 0 && <p>Affected deliveries: {affected.join(', ')}</p>}
      {issue.sampleDeliveryId !== null && <LastResponse issue={issue} id={issue.sampleDeliveryId} />}
      <ol className="steps">
        {steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a kind stay the same
          <li key={index}>
            <div className="step">
              <span className="grow">{step}</span>
              {failed && index === steps.length - 1 && children}
            </div>
          </li>
        ))}
      </ol>
      <p className="small quiet">
        {retrying && 'Retries continue automatically. '}
        {`Unless ignored, the issue resolves automatically ${RECOVERED[issue.kind] ?? 'after a success and a minute without failures'}.`}
      </p>
    </div>
  );
}

/** When issues of some kinds resolve. */
const RECOVERED: Partial<Record<Issue['kind'], string>> = {
  circuit_open: 'when the circuit breaker closes',
  order_blocked: "when none of the destination's ordering keys is blocked",
};

/** The last failed response with this cause. Often it says what is wrong. */
function LastResponse({ issue: { kind, cause }, id }: { issue: Issue; id: string }) {
  const { data } = useAsk('getDelivery', { id }, { scope: 'deliveries:read', every: AGAIN_MS });
  const last = data?.attempts.findLast(({ status, statusCode }) =>
    cause.startsWith('HTTP_')
      ? cause === `HTTP_${statusCode}`
      : status === 'failed' && (kind !== 'delivery_failing' || cause === 'OTHER'),
  );
  if (!last?.responseBody) return null;
  return (
    <p>
      Last response: HTTP {last.statusCode} <Mono text={shortened(last.responseBody, MOST_SHOWN)} />
    </p>
  );
}

/** The deliveries of where it is. */
export const placeIn = ({ routeId, destinationId }: Issue) => ({
  ...(routeId !== null && { routeId }),
  ...(destinationId !== null && { destinationId }),
});

/** How many deliveries wait where it is. */
const useWaiting = (issue: Issue, status: 'retrying' | 'circuit_open') =>
  useSome('listDeliveries', { ...placeIn(issue), status }, { enabled: canRetry(issue), scope: 'deliveries:read' });

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
    {what} of{' '}
    {sampleDeliveryId === null ? (
      'an affected delivery'
    ) : (
      <>
        the <Link to={`/deliveries/${sampleDeliveryId}`}>latest affected delivery</Link>
      </>
    )}
    .
  </>
);

const refusedOf = (issue: Issue): ReactNode =>
  issue.source ? (
    <PageLink to={`/sources/${issue.source.id}`} search={{ tab: 'refused-webhooks' }}>
      refused webhooks
    </PageLink>
  ) : (
    'refused webhooks'
  );

const STEPS: Record<Issue['kind'], (issue: Issue) => ReactNode[]> = {
  delivery_failing: (issue) => [
    seeSample(issue, 'Compare the request and response'),
    <>Fix the receiving service, or edit the URL or credentials of {the(issue, 'destination')}.</>,
    'Send a test webhook from the destination page.',
  ],
  circuit_open: (issue) => [
    <>
      Fix the cause. See the{' '}
      <PageLink to="/issues" search={{ routeId: issue.routeId, kind: 'delivery_failing' }}>
        other issues on this route
      </PageLink>
      .
    </>,
  ],
  transform_failing: (issue) => [
    seeSample(issue, 'Check the error'),
    <>
      Fix the transform of {the(issue, 'route')}.{' '}
      {issue.routeId !== null && issue.sampleEventId !== null && (
        <PageLink to={`/routes/${issue.routeId}`} search={{ tab: 'preview', event: issue.sampleEventId }}>
          Test it with the failing event
        </PageLink>
      )}
    </>,
  ],
  schema_refusing: (issue) => [
    seeSample(issue, 'Check the error'),
    <>Fix the schema of {the(issue, 'route')}, or the sender's payloads.</>,
  ],
  signature_failing: (issue) => [
    <>Review the {refusedOf(issue)}.</>,
    <>Edit {the(issue, 'source')} and enter the secret its sender uses.</>,
    'Refused webhooks are not stored as events. Ask the sender to send them again.',
  ],
  warehouse_not_writable: (issue) => [
    <>Check the error of the last file in the Files tab of {the(issue, 'destination')}.</>,
    'Fix the bucket, credentials or permissions, then write a test file to check. Waiting files are written automatically.',
  ],
  order_blocked: (issue) => [
    seeSample(issue, 'Check the error'),
    <>Fix {the(issue, 'destination')}, then replay the failed delivery. It keeps its place in the order.</>,
  ],
  quota_reached: () => [
    <>
      Check your <Link to="/usage">usage</Link>.
    </>,
    'Reduce usage or ask the operator for a higher limit.',
  ],
  ingest_refused: (issue) => [<>Review the causes of the {refusedOf(issue)}.</>],
  notification_failing: (issue) => [
    <>Check the notification addresses of {the(issue, 'route')}.</>,
    'If the addresses are correct, the mail server rejects them or is unreachable. Contact the operator.',
  ],
};
