// A past event on this route: what its schema, filter and transform make of it now, and what each destination would
// receive. Nothing is sent or stored, until one replays it.
import { useDebouncedValue } from '@mantine/hooks';
import type { Route } from '@hookyard/client';
import type { ReactNode } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { ConfirmedAction, createdText, replayEvent } from '../../components/actions.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Callout, Card, Headers } from '../../components/ui.tsx';
import { plain } from '../../format.ts';
import { FilterOutcome, SchemaOutcome, TransformOutcome } from '../../samples/Outcomes.tsx';
import { type Sample, SampleField, useSample } from '../../samples/Sample.tsx';

const TYPING_MS = 400;

export function TryIt({ route }: { route: Route }) {
  const sample = useSample(route.sourceId);
  const [input] = useDebouncedValue(sample.input, TYPING_MS);
  const mayReplay = useMay('events:write');
  return (
    <div className="grid-2">
      <Card title="Event">
        <p className="quiet">Nothing is sent or stored.</p>
        <SampleField sample={sample} sourceId={route.sourceId} />
      </Card>
      <Card title="Result" actions={sample.eventId && mayReplay && <Replay eventId={sample.eventId} route={route} />}>
        <div className="stack">
          {route.schema && <SchemaStep id={route.schema.id} input={input} />}
          {(route.filter || route.filterConditions) && <FilterStep route={route} input={input} />}
          {route.transform ? (
            <TransformStep id={route.transform.id} input={input} />
          ) : (
            <Step title="Transform">None: the payload is sent as received.</Step>
          )}
          {sample.eventId && <Requests routeId={route.id} eventId={sample.eventId} />}
        </div>
      </Card>
    </div>
  );
}

type Input = Sample['input'];

function Step({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h3>{title}</h3>
      {children}
    </div>
  );
}

interface TriedProps<Result> {
  title: string;
  may: boolean;
  scope: string;
  answer: { data: Result | undefined; error: unknown };
  children: (result: Result) => ReactNode;
}

function Tried<Result>({ title, may, scope, answer: { data, error }, children }: TriedProps<Result>) {
  return (
    <Step title={title}>
      {!may && <p className="small quiet">Requires the {scope} scope.</p>}
      {error !== null && <Failed error={error} />}
      {data && children(data)}
    </Step>
  );
}

function SchemaStep({ id, input }: { id: string; input: Input }) {
  const may = useMay('schemas:write');
  const body = { payload: input.payload, headers: input.headers };
  const answer = useAsk('validatePayload', { id, body }, { enabled: may, keep: true });
  return (
    <Tried title="Schema" may={may} scope="schemas:write" answer={answer}>
      {(result) => <SchemaOutcome result={result} />}
    </Tried>
  );
}

function FilterStep({ route, input }: { route: Route; input: Input }) {
  const may = useMay('filters:write');
  const own = { ...input, conditions: route.filterConditions ?? [], logic: route.filterLogic };
  const isOwn = route.filterId === null;
  const byRecord = useAsk(
    'testFilter',
    { id: route.filterId ?? '', body: input },
    { enabled: may && !isOwn, keep: true },
  );
  const byOwn = useAsk('testConditions', { body: own }, { enabled: may && isOwn, keep: true });
  return (
    <Tried title="Filter" may={may} scope="filters:write" answer={isOwn ? byOwn : byRecord}>
      {(result) => <FilterOutcome result={result} />}
    </Tried>
  );
}

function TransformStep({ id, input }: { id: string; input: Input }) {
  const may = useMay('transforms:write');
  const answer = useAsk('testTransform', { id, body: input }, { enabled: may, keep: true });
  return (
    <Tried title="Transform" may={may} scope="transforms:write" answer={answer}>
      {(result) => <TransformOutcome result={result} />}
    </Tried>
  );
}

/** What each destination would receive of the stored event now. */
function Requests({ routeId, eventId }: { routeId: string; eventId: string }) {
  const may = useMay('payloads:read');
  const { data, error, refetch } = useAsk('previewRoute', { id: routeId, body: { eventId } }, { enabled: may });
  if (!may) return null;
  return (
    <section aria-label="Request preview" className="stack">
      <h3>Request preview (stored event)</h3>
      {error && <Failed error={error} again={() => void refetch()} />}
      {data?.requests.length === 0 && <p className="quiet">No request: {plain(data.error ?? 'filtered out')}</p>}
      {data?.requests.map(({ destinationId, destinationName, enabled, request, problem }) => (
        <article key={destinationId} className="stack">
          <h4>
            {plain(destinationName)}
            {!enabled && ' (disabled)'}
          </h4>
          {problem && (
            <Callout tone="bad" title={problem.code}>
              {plain(problem.message)}
            </Callout>
          )}
          {request && (
            <>
              <p className="mono anywhere">
                <strong>{request.method}</strong> <bdi>{plain(request.url)}</bdi>
              </p>
              <Headers title={`Request headers for ${plain(destinationName)}`} of={request.headers} />
            </>
          )}
        </article>
      ))}
    </section>
  );
}

function Replay({ eventId, route }: { eventId: string; route: Route }) {
  return (
    <ConfirmedAction
      label="Replay event"
      verb="Replay event"
      run={() => replayEvent(eventId, route.destinationIds)}
      said={createdText}
    >
      <p>
        The stored event is sent to {plain(route.destinations.map(({ name }) => name).join(', '))}, without the changes
        made here. The schema and transform apply, but the filter does not.
      </p>
    </ConfirmedAction>
  );
}
