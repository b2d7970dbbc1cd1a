// A new replay: a filter, which is counted first, where to, and how fast.
import { Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { EventReplayDryRun } from 'hookyard/client';
import { useState } from 'react';
import { call, type Input } from '../../api/client.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { Failed } from '../../components/Failed.tsx';
import { ChoiceFilter, RangeFilter, RecordFilter, TextFilter } from '../../components/filters.tsx';
import { YES_NO } from '../../components/flags.ts';
import { Page } from '../../components/Page.tsx';
import { RecordsField } from '../../forms/fields.tsx';
import { countText } from '../../format.ts';
import { rangeOf, usePageSearch } from '../../search.ts';

type Body = Input<'createEventReplay'>['body'];
const RATE = 50;
const MOST_RATE = 1000;

export function NewReplay() {
  const [search] = usePageSearch();
  const navigate = useNavigate();
  const [destinationIds, setDestinations] = useState<string[]>([]);
  const [rate, setRate] = useState(RATE);
  const [counted, setCounted] = useState<{ of: string; result: EventReplayDryRun } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const filter = {
    ...(search.sourceId && { sourceId: search.sourceId }),
    ...(search.status && { status: search.status as Body['status'] }),
    ...(search.routed && { routed: search.routed === 'true' }),
    ...(search.search && { search: search.search }),
    ...rangeOf(search, '24h'),
  };
  const body: Body = {
    ...(Object.keys(filter).length === 0 ? { all: true } : filter),
    ...(destinationIds.length > 0 && { destinationIds }),
    ratePerSecond: rate,
  };
  // What was counted is of the filter as it was then.
  const key = JSON.stringify({ ...search, destinationIds });
  const result = counted?.of === key ? counted.result : null;
  const run = async (work: () => Promise<void>) => {
    setRunning(true);
    setError(null);
    await work()
      .catch(setError)
      .finally(() => setRunning(false));
  };
  const count = () =>
    run(async () => {
      const answer = await call('createEventReplay', { body: { ...body, dryRun: true } });
      if ('dryRun' in answer) setCounted({ of: key, result: answer });
    });
  const begin = () =>
    run(async () => {
      const answer = await call('createEventReplay', { body });
      if ('id' in answer) void navigate({ to: `/replays/${answer.id}` });
    });
  const left = result ? result.eventsTotal - result.eventsExpired : 0;
  return (
    <Page title="New replay" actions={<CopyMenu call={{ name: 'createEventReplay', input: { body } }} />}>
      <Stack gap="sm" maw={900}>
        <Text>Which events? What is chosen here is in the address, as on the page of events.</Text>
        <Group align="end" gap="xs">
          <RangeFilter byDefault="24h" />
          <RecordFilter name="sourceId" label="Source" list="listSources" />
          <ChoiceFilter name="status" label="Status" choices={['pending', 'delivered', 'partial', 'failed']} />
          <ChoiceFilter name="routed" label="Taken by a route" choices={YES_NO} />
          <TextFilter name="search" label="Words of the payload" />
        </Group>
        <RecordsField
          label="To these destinations"
          description="None chosen: to all where the routes of the source lead now."
          list="listDestinations"
          value={destinationIds}
          onChange={setDestinations}
          most={100}
        />
        <NumberInput
          label="Events a second, at most"
          min={1}
          max={MOST_RATE}
          allowDecimal={false}
          value={rate}
          onChange={(value) => setRate(Number(value) || RATE)}
          maw={240}
        />
        {error !== null && <Failed error={error} />}
        <Group>
          <Button variant="default" loading={isRunning && result === null} onClick={() => void count()}>
            Count them
          </Button>
          <Button
            disabled={result === null || left === 0}
            loading={isRunning && result !== null}
            onClick={() => void begin()}
          >
            {result === null ? 'Replay them' : `Replay ${countText(left)}`}
          </Button>
          <Link to="/events" search={{ ...search, page: undefined } as never}>
            See them first
          </Link>
        </Group>
        <div role="status">
          {result && (
            <Text>
              {countText(result.eventsTotal)} {result.eventsTotal === 1 ? 'event matches' : 'events match'}
              {result.eventsExpired > 0 &&
                `; the payload of ${countText(result.eventsExpired)} is gone: they are left out`}
              .
            </Text>
          )}
        </div>
      </Stack>
    </Page>
  );
}
