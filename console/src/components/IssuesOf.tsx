// The open issues of a source, a route or a destination, where its page is.
import { Link } from '@tanstack/react-router';
import { AGAIN_MS, useAsk } from '../api/queries.ts';
import { plain, plural } from '../format.ts';
import { titleOf } from '../words.ts';
import { Time } from '../zone.tsx';
import { Failed } from './Failed.tsx';
import { Callout } from './ui.tsx';

const MOST = 10;

export function IssuesOf({ of }: { of: { sourceId?: string; routeId?: string; destinationId?: string } }) {
  const options = { scope: 'issues:read', every: AGAIN_MS } as const;
  const answers = [
    useAsk('listIssues', { ...of, state: 'open', pageSize: MOST }, options),
    useAsk('listIssues', { ...of, state: 'acknowledged', pageSize: MOST }, options),
  ];
  const failed = answers.find(({ error }) => error !== null);
  if (failed) return <Failed error={failed.error} again={() => void failed.refetch()} />;
  const issues = answers.flatMap(({ data }) => data?.data ?? []);
  const total = answers.reduce((sum, { data }) => sum + (data?.pagination.total ?? 0), 0);
  if (total === 0) return null;
  return (
    <Callout tone="bad" title={plural(total, 'active issue')}>
      {issues.map((issue) => (
        <div key={issue.id}>
          <Link to={`/issues/${issue.id}`}>{plain(titleOf(issue))}</Link>
          {', last failure '}
          <Time at={issue.lastSeenAt} />
        </div>
      ))}
    </Callout>
  );
}
