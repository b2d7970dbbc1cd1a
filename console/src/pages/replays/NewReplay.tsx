// A new replay: a filter, which is counted first, where to, and how fast.
import { Button, NumberInput } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { EventReplayDryRun } from '@hookyard/client';
import { useState } from 'react';
import { call, type Input } from '../../api/client.ts';
import { useTask, crumbOf } from '../../api/queries.ts';
import { ExportMenu } from '../../components/ExportMenu.tsx';
import { Failed } from '../../components/Failed.tsx';
import { type Filter, Filters, inputOf } from '../../components/filters.tsx';
import { Page } from '../../components/Page.tsx';
import { RecordsField } from '../../forms/fields.tsx';
import { countText, plural } from '../../format.ts';
import { rangeOf, usePageSearch } from '../../search.ts';

type Body = Input<'createEventReplay'>['body'];
const RATE = 50;
const MOST_RATE = 1000;
const FILTERS = [
  { name: 'sourceId', label: 'Source', kind: 'record', list: 'listSources' },
  { name: 'status', label: 'Status', kind: 'one', choices: ['pending', 'delivered', 'partial', 'failed'] },
  { name: 'routed', label: 'Routed', kind: 'flag' },
  { name: 'search', label: 'Payload contains', kind: 'search' },
] as const satisfies Filter[];

export function NewReplay() {
  const [search] = usePageSearch();
  const navigate = useNavigate();
  const [destinationIds, setDestinations] = useState<string[]>([]);
  const [rate, setRate] = useState(RATE);
  const [counted, setCounted] = useState<{ of: string; result: EventReplayDryRun } | null>(null);
  const { mutate, isPending, error } = useTask();
  const given = Object.entries(inputOf(search, FILTERS)).filter(([, value]) => value !== undefined);
  const filter = { ...Object.fromEntries(given), ...rangeOf(search, '24h') };
  const body: Body = {
    ...(Object.keys(filter).length === 0 ? { all: true } : filter),
    ...(destinationIds.length > 0 && { destinationIds }),
    ratePerSecond: rate,
  };
  // What was counted is of the filter as it was then.
  const key = JSON.stringify({ ...search, destinationIds });
  const result = counted?.of === key ? counted.result : null;
  const count = () =>
    mutate(async () => {
      const answer = await call('createEventReplay', { body: { ...body, dryRun: true } });
      if ('dryRun' in answer) setCounted({ of: key, result: answer });
    });
  const begin = () =>
    mutate(async () => {
      const answer = await call('createEventReplay', { body });
      if ('id' in answer) void navigate({ to: `/replays/${answer.id}` });
    });
  const left = result ? result.eventsTotal - result.eventsExpired : 0;
  return (
    <Page
      title="New replay"
      crumb={crumbOf('replay')}
      actions={<ExportMenu call={{ name: 'createEventReplay', input: { body } }} />}
    >
      <div className="stack form">
        <h2>Events</h2>
        <Filters of={FILTERS} />
        <RecordsField
          label="Destinations"
          description="Leave empty for all destinations of the sources' enabled routes. Route filters do not apply."
          list="listDestinations"
          value={destinationIds}
          onChange={setDestinations}
          maxValues={100}
        />
        <NumberInput
          label="Rate limit (events per second)"
          min={1}
          max={MOST_RATE}
          allowDecimal={false}
          value={rate}
          onChange={(value) => setRate(Number(value) || RATE)}
        />
        {error !== null && <Failed error={error} />}
        <div className="row">
          <Button variant="default" loading={isPending && result === null} onClick={count}>
            Count events
          </Button>
          <Button disabled={result === null || left === 0} loading={isPending && result !== null} onClick={begin}>
            {result === null ? 'Start replay' : `Replay ${plural(left, 'event')}`}
          </Button>
          <Link to="/events" search={{ ...search, page: undefined } as never}>
            View events
          </Link>
        </div>
        <p role="status">
          {result &&
            `${plural(result.eventsTotal, 'matching event')}${result.eventsExpired > 0 ? `, ${countText(result.eventsExpired)} will be skipped (payload expired)` : ''}`}
        </p>
      </div>
    </Page>
  );
}
