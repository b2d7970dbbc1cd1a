// A past event on this route: what its schema, filter and transform make of it now, and what each destination would
// receive. Nothing is sent or stored, until one replays it.
import { useDebouncedValue } from '@mantine/hooks';
import type { Route } from '@hookyard/client';
import type { ReactNode } from 'react';
import { type SingleScope, useMay } from '../../api/caller.tsx';
import type { Input, Name, Output } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import { ConfirmedAction, createdText, replayEvent } from '../../components/actions.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Callout, Card, Headers } from '../../components/ui.tsx';
import { plain } from '../../format.ts';
import { FilterOutcome, SchemaOutcome, TransformOutcome, SampleField, useSample } from '../../samples/Sample.tsx';

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
          {route.schema && (
            <Tried
              title="Schema"
              scope="schemas:write"
              name="validatePayload"
              input={{ id: route.schema.id, body: { payload: input.payload, headers: input.headers } }}
            >
              {(result) => <SchemaOutcome result={result} />}
            </Tried>
          )}
          {route.filter && (
            <Tried title="Filter" scope="filters:write" name="testFilter" input={{ id: route.filter.id, body: input }}>
              {(result) => <FilterOutcome result={result} />}
            </Tried>
          )}
          {route.filterConditions && (
            <Tried
              title="Filter"
              scope="filters:write"
              name="testConditions"
              input={{ body: { ...input, conditions: route.filterConditions, logic: route.filterLogic } }}
            >
              {(result) => <FilterOutcome result={result} />}
            </Tried>
          )}
          {route.transform ? (
            <Tried
              title="Transform"
              scope="transforms:write"
              name="testTransform"
              input={{ id: route.transform.id, body: input }}
            >
              {(result) => <TransformOutcome result={result} />}
            </Tried>
          ) : (
            <Step title="Transform">None: the payload is sent as received.</Step>
          )}
          {sample.eventId && <Requests routeId={route.id} eventId={sample.eventId} />}
        </div>
      </Card>
    </div>
  );
}

function Step({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h3>{title}</h3>
      {children}
    </div>
  );
}

interface TriedProps<N extends Name> {
  title: string;
  scope: SingleScope;
  name: N;
  input: Input<N>;
  children: (result: Output<N>) => ReactNode;
}

function Tried<N extends Name>({ title, scope, name, input, children }: TriedProps<N>) {
  const may = useMay(scope);
  const { data, error } = useAsk(name, input, { enabled: may, keep: true });
  return (
    <Step title={title}>
      {!may && <p className="small quiet">Requires the {scope} scope.</p>}
      {error !== null && <Failed error={error} />}
      {data && children(data)}
    </Step>
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
    <ConfirmedAction label="Replay event" run={() => replayEvent(eventId, route.destinationIds)} said={createdText}>
      <p>
        The stored event is sent to {plain(route.destinations.map(({ name }) => name).join(', '))}, without the changes
        made here. The schema and transform apply, but the filter does not.
      </p>
    </ConfirmedAction>
  );
}
