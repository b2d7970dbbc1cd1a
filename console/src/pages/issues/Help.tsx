// What helps against an issue: steps, each with the page on which it is done.
import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Issue } from 'hookyard/client';
import type { ReactNode } from 'react';
import { Name } from '../../components/Name.tsx';
import { canRetry } from '../../words/issues.ts';

export function Help({ issue }: { issue: Issue }) {
  const steps = [
    ...STEPS[issue.kind](issue),
    ...(canRetry(issue) ? ['Send again what has failed for good meanwhile: “Retry what failed”, above.'] : []),
  ];
  return (
    <>
      <ol className="steps">
        {steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a kind stay the same
          <li key={index}>{step}</li>
        ))}
      </ol>
      <Text size="sm">
        {issue.kind === 'circuit_open'
          ? 'The issue resolves itself when the circuit closes.'
          : `${canRetry(issue) ? 'What waits for a retry goes out by itself. ' : ''}The issue resolves itself about a minute after it works again.`}
      </Text>
    </>
  );
}

type Subject = 'source' | 'route' | 'destination';

/** `the route Orders to CRM`, with its page. */
const the = (issue: Issue, what: Subject): ReactNode => {
  const record = issue[what];
  return record ? (
    <>
      the {what} <Name id={record.id} name={record.name} />
    </>
  ) : (
    `the ${what}`
  );
};

const seeSample = ({ sampleDeliveryId }: Issue, what: string): ReactNode => (
  <>
    See {what}:{' '}
    {sampleDeliveryId === null ? (
      'a delivery that failed'
    ) : (
      <Link to={`/deliveries/${sampleDeliveryId}`}>the last delivery that failed</Link>
    )}
    .
  </>
);

const STEPS: Record<Issue['kind'], (issue: Issue) => ReactNode[]> = {
  delivery_failing: (issue) => [
    seeSample(issue, 'what was sent, and what was answered'),
    <>
      Repair {the(issue, 'destination')}: its service, or its address and credentials (“Edit”). “Send a test webhook” on
      its page says whether it works.
    </>,
  ],
  circuit_open: (issue) => [
    <>
      See what fails, and repair that:{' '}
      <Link to="/issues" search={{ routeId: issue.routeId ?? undefined, kind: 'delivery_failing' } as never}>
        the other issues of the route
      </Link>
      .
    </>,
    <>
      Deliveries wait meanwhile, and go out by themselves once the destination answers. The page of{' '}
      {the(issue, 'route')} says when it is tried next; “Let deliveries through now” does not wait for that.
    </>,
  ],
  transform_failing: (issue) => [
    seeSample(issue, 'the error'),
    <>
      Correct the transform of {the(issue, 'route')}.{' '}
      {issue.routeId !== null && issue.sampleEventId !== null && (
        <Link to={`/routes/${issue.routeId}`} search={{ event: issue.sampleEventId } as never}>
          Try it with that event
        </Link>
      )}
    </>,
  ],
  schema_refusing: (issue) => [
    seeSample(issue, 'the error'),
    <>Correct the schema of {the(issue, 'route')}, or have the sender corrected.</>,
  ],
  signature_failing: (issue) => [
    <>See what was refused, and why, on the page of {the(issue, 'source')}: “Refused webhooks”.</>,
    'Set the secret there that its sender uses (“Edit”).',
    'What was refused was not stored: have it sent again.',
  ],
  warehouse_not_writable: (issue) => [
    <>See the error of its last file on the page of {the(issue, 'destination')}.</>,
    'Repair the bucket, the credentials or the permission. “Write a test file” there says whether it works.',
    'Files that wait are written by themselves then.',
  ],
  quota_reached: () => [
    <>
      See what is used of each limit: <Link to="/usage">Usage</Link>.
    </>,
    'Send less, or ask the operator for more.',
  ],
  ingest_refused: (issue) => [
    <>See what was refused, why, and what helps, on the page of {the(issue, 'source')}: “Refused webhooks”.</>,
  ],
  notification_failing: (issue) => [
    <>Check to whom mails of {the(issue, 'route')} go (“Edit”).</>,
    'The mail server refuses them, or cannot be reached: that is for the operator.',
  ],
};
