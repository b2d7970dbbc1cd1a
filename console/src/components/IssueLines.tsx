// Issues in a line each: what fails, where, how often, and the page that says what helps.
import { Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Issue } from 'hookyard/client';
import { countText, plain } from '../format.ts';
import { placeOf, titleOf } from '../words/issues.ts';
import { Time } from '../zone.tsx';

export function IssueLines({ of }: { of: Issue[] }) {
  return of.map((issue) => (
    <Group key={issue.id} gap="xs">
      <Link to={`/issues/${issue.id}`}>{plain(titleOf(issue))}</Link>
      <bdi>{plain(placeOf(issue))}</bdi>
      <span>
        {countText(issue.count)} {issue.count === 1 ? 'failure' : 'failures'}, the last <Time at={issue.lastSeenAt} />
        {issue.state === 'acknowledged' && ', acknowledged'}
      </span>
    </Group>
  ));
}
