// A past event on this route: what its schema, filter and transform make of it now, step by step. Nothing is sent or stored, until
// one delivers it.
import { Group, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { Route } from 'hookyard/client';
import type { ReactNode } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { Failed } from '../../components/Failed.tsx';
import { countText, plain } from '../../format.ts';
import { FilterOutcome, SchemaOutcome, TransformOutcome } from '../../samples/Outcomes.tsx';
import { type Sample, SampleField, useSample } from '../../samples/Sample.tsx';
import { Requests } from './Requests.tsx';

const TYPING_MS = 400;

export function TryIt({ route }: { route: Route }) {
  const sample = useSample();
  const [input] = useDebouncedValue(sample.input, TYPING_MS);
  const mayReplay = useMay('events:write');
  return (
    <div className="side">
      <SampleField sample={sample} sourceId={route.sourceId} />
      <section aria-label="What the route makes of it">
        {route.schema && <SchemaStep id={route.schema.id} input={input} />}
        {(route.filter || route.filterConditions) && <FilterStep route={route} input={input} />}
        {route.transform ? (
          <TransformStep id={route.transform.id} input={input} />
        ) : (
          <Step title="Transform">It has none: the payload is sent as it was received.</Step>
        )}
        <Step title="Then it goes to">
          {plain(route.destinations.map(({ name }) => name).join(', '))}
          {!route.enabled && ', when the route is on again'}
          {route.circuitState !== 'closed' && '. The circuit is not closed: it waits, or fails over'}
        </Step>
        {sample.eventId && <Requests routeId={route.id} eventId={sample.eventId} />}
        {sample.eventId && mayReplay && <Deliver eventId={sample.eventId} route={route} />}
      </section>
    </div>
  );
}

type Input = Sample['input'];

function Step({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <h3>{title}</h3>
      <div>{children}</div>
    </>
  );
}

function NotAllowed({ scope }: { scope: string }) {
  return <Text size="sm">This key may not try it: that needs {scope}.</Text>;
}

function SchemaStep({ id, input }: { id: string; input: Input }) {
  const may = useMay('schemas:write');
  const { data, error } = useAsk(
    'validatePayload',
    { id, body: { payload: input.payload, headers: input.headers } },
    { enabled: may, keep: true },
  );
  return (
    <Step title="Schema">
      {!may && <NotAllowed scope="schemas:write" />}
      {error && <Failed error={error} />}
      {data && <SchemaOutcome result={data} />}
    </Step>
  );
}

function FilterStep({ route, input }: { route: Route; input: Input }) {
  const may = useMay('filters:write');
  const own = { ...input, conditions: route.filterConditions ?? [], logic: route.filterLogic };
  const byRecord = useAsk(
    'testFilter',
    { id: route.filterId ?? '', body: input },
    { enabled: may && route.filterId !== null, keep: true },
  );
  const byOwn = useAsk('testConditions', { body: own }, { enabled: may && route.filterId === null, keep: true });
  const { data, error } = route.filterId === null ? byOwn : byRecord;
  return (
    <Step title="Filter">
      {!may && <NotAllowed scope="filters:write" />}
      {error && <Failed error={error} />}
      {data && <FilterOutcome result={data} />}
    </Step>
  );
}

function TransformStep({ id, input }: { id: string; input: Input }) {
  const may = useMay('transforms:write');
  const { data, error } = useAsk('testTransform', { id, body: input }, { enabled: may, keep: true });
  return (
    <Step title="Transform">
      {!may && <NotAllowed scope="transforms:write" />}
      {error && <Failed error={error} />}
      {data && <TransformOutcome result={data} />}
    </Step>
  );
}

/** Delivers a stored event to the destinations of a route again. */
export function Deliver({
  eventId,
  route,
}: {
  eventId: string;
  route: Pick<Route, 'destinationIds' | 'destinations'>;
}) {
  const count = route.destinationIds.length;
  return (
    <Group mt="sm">
      <ConfirmedAction
        label="Deliver this event now"
        title="Deliver this event again"
        verb={`Deliver to ${count === 1 ? 'it' : `these ${countText(count)}`}`}
        run={async () => {
          const { deliveriesCreated } = await call('replayEvent', {
            id: eventId,
            body: { destinationIds: route.destinationIds },
          });
          return `${countText(deliveriesCreated)} ${deliveriesCreated === 1 ? 'delivery was' : 'deliveries were'} made`;
        }}
      >
        <Text>
          It goes to {plain(route.destinations.map(({ name }) => name).join(', '))} as it was received, not as it was
          changed here. Filters are not asked, schemas and transforms are.
        </Text>
      </ConfirmedAction>
    </Group>
  );
}
