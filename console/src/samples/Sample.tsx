// A real event to try filters, transforms and schemas on: chosen from the last ones, and changed by hand where one
// likes.
import type { FilterResult, SchemaResult, TransformResult } from '@hookyard/client';
import { NativeSelect, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useMay } from '../api/caller.tsx';
import { useAsk } from '../api/queries.ts';
import { Failed } from '../components/Failed.tsx';
import { CheckIcon, Cross2Icon } from '../components/icons.tsx';
import { statusText } from '../components/ui.tsx';
import { Editor, type Mark } from '../editor/Editor.tsx';
import { durationText, plain, timeText } from '../format.ts';
import { RecordField } from '../forms/fields.tsx';
import { indented, jsonOrNothing } from '../json.ts';
import { usePageSearch } from '../search.ts';
import { eventState } from '../words.ts';
import { useZone } from '../zone.tsx';

const LATEST = 25;
const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i;
const START = JSON.stringify({ type: 'order.paid', order: { id: 42, total: 59.9, currency: 'EUR' } }, null, 2);

export interface Sample {
  eventId: string | undefined;
  /** As it is in the editor: JSON, or any other text. */
  text: string;
  setText: (text: string) => void;
  /** What an operation that tries something takes. */
  input: { payload: unknown; headers?: Record<string, string>; query?: string; method?: 'POST' | 'PUT' | 'PATCH' };
  isJson: boolean;
  /** Whether the event says that its text is a form, which is read as one. */
  isForm: boolean;
  error: unknown;
  isLoading: boolean;
}

/**
 * The event of the address (`?event=evt_…`), or a made-up one.
 * @param sourceId begins with the latest event of this source, or a sample of its provider
 */
export function useSample(sourceId?: string): Sample {
  const [{ event: eventId }, set] = usePageSearch();
  const mayList = useMay('events:read');
  const mayRead = useMay('payloads:read');
  const [text, setText] = useState(START);
  const isFree = sourceId !== undefined && eventId === undefined;
  const latest = useAsk('listEvents', { sourceId, pageSize: 1 }, { enabled: isFree && mayList && mayRead });
  const latestId = latest.data?.data[0]?.id;
  // In the address, it stays when newer events come.
  // biome-ignore lint/correctness/useExhaustiveDependencies: set is another one each time
  useEffect(() => {
    if (isFree && latestId) set({ event: latestId }, { replace: true });
  }, [isFree, latestId]);
  const mayReadSource = useMay('sources:read');
  const maySign = useMay('sources:write');
  const isNone = isFree && latest.data?.data.length === 0;
  const source = useAsk('getSource', { id: sourceId ?? '' }, { enabled: isNone && mayReadSource && maySign });
  // Refused where only the provider can sign: the made-up event stays.
  const isSigned = isNone && source.data != null && source.data.provider !== null;
  const signed = useAsk('signSourceSample', { id: sourceId ?? '' }, { enabled: isSigned });
  const sample = eventId === undefined ? signed.data : undefined;
  const answer = useAsk(
    'getEvent',
    { id: eventId ?? '', includePayload: true },
    { enabled: eventId !== undefined && mayRead },
  );
  const event = answer.data;
  useEffect(() => {
    if (!event) return;
    setText(typeof event.payload === 'string' ? event.payload : JSON.stringify(event.payload, null, 2));
  }, [event]);
  useEffect(() => {
    if (sample) setText((before) => (before === START ? indented(sample.sample) : before));
  }, [sample]);
  const parsed = jsonOrNothing(text);
  return {
    eventId,
    text,
    setText,
    input: {
      payload: parsed ? parsed.value : text,
      ...(event && { headers: event.headers, query: event.query, method: event.method }),
      ...(sample && { headers: sample.headers }),
    },
    isJson: parsed !== undefined,
    isForm: FORM.test(event?.headers['content-type'] ?? ''),
    error: answer.error,
    isLoading: eventId !== undefined && mayRead && !event && answer.error === null,
  };
}

interface FieldProps {
  sample: Sample;
  /** Whose events; without it one chooses that too. */
  sourceId?: string;
  /** Lines of the payload with something wrong in them. */
  marks?: readonly Mark[] | undefined;
}

/** Chooses the event, and shows its payload. */
export function SampleField({ sample, sourceId, marks }: FieldProps) {
  const [search, set] = usePageSearch();
  const mayList = useMay('events:read');
  const mayRead = useMay('payloads:read');
  const from = sourceId ?? search.source;
  const isPossible = mayList && mayRead;
  return (
    <section aria-label="Sample" className="stack">
      {isPossible ? (
        <div className="rule-row">
          {sourceId === undefined && (
            <RecordField
              label="Source"
              placeholder="All sources"
              list="listSources"
              value={search.source ?? null}
              onChange={(source) => set({ source: source ?? undefined })}
            />
          )}
          <Latest sourceId={from} eventId={sample.eventId} choose={(event) => set({ event })} />
          <TextInput
            label="Event ID"
            placeholder="evt_…"
            key={sample.eventId}
            defaultValue={sample.eventId}
            onBlur={({ currentTarget: { value } }) =>
              value !== (sample.eventId ?? '') && set({ event: value || undefined })
            }
          />
        </div>
      ) : (
        <p className="small quiet">Loading stored events requires the events:read and payloads:read scopes.</p>
      )}
      {sample.error !== null && <Failed error={sample.error} />}
      <Editor label="Payload" language="json" value={sample.text} onChange={sample.setText} marks={marks} />
      {!sample.isJson && <p className="small quiet">Not JSON: treated as {sample.isForm ? 'form data' : 'text'}</p>}
    </section>
  );
}

interface LatestProps {
  sourceId: string | undefined;
  eventId: string | undefined;
  choose: (id: string | undefined) => void;
}

function Latest({ sourceId, eventId, choose }: LatestProps) {
  const { zone } = useZone();
  const { data, error } = useAsk('listEvents', { pageSize: LATEST, ...(sourceId && { sourceId }) });
  const events = data?.data ?? [];
  const choices = events.map((event) => ({
    value: event.id,
    label: `${timeText(event.receivedAt, zone)}, ${statusText(eventState(event))}${sourceId ? '' : `, ${event.source.name}`}`,
  }));
  const isKnown = eventId === undefined || events.some(({ id }) => id === eventId);
  return (
    <NativeSelect
      label="Recent event"
      value={eventId ?? ''}
      error={error ? 'Could not load events' : undefined}
      onChange={(event) => choose(event.currentTarget.value || undefined)}
      data={[
        { value: '', label: events.length === 0 ? 'No events' : 'Choose an event' },
        ...choices,
        ...(isKnown ? [] : [{ value: eventId, label: eventId }]),
      ]}
    />
  );
}

// What a schema, a filter or a transform made of a sample.

/** @param isGood null: neither good nor bad */
function Verdict({ isGood, children }: { isGood: boolean | null; children: string }) {
  return (
    <p role="status" data-good={isGood} className={isGood === null ? 'row' : isGood ? 'row ok' : 'row bad'}>
      {isGood === true && <CheckIcon />}
      {isGood === false && <Cross2Icon />}
      <strong>{children}</strong>
    </p>
  );
}

export function SchemaOutcome({ result }: { result: SchemaResult }) {
  return (
    <>
      <Verdict isGood={result.valid}>{result.valid ? 'Payload matches' : 'Payload does not match'}</Verdict>
      {result.errors.map(({ path, message }) => (
        <p key={`${path} ${message}`} className="anywhere">
          <code>{plain(path || '/')}</code> {plain(message)}
        </p>
      ))}
    </>
  );
}

const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : Array.isArray(value) ? value.map(valueText).join(', ') : JSON.stringify(value);

export function FilterOutcome({ result }: { result: FilterResult }) {
  return (
    <>
      <Verdict isGood={result.matches || null}>{result.matches ? 'Event matches' : 'Event filtered out'}</Verdict>
      {result.conditions.map(({ field, operator, value, matches }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions are told by their place
        <p key={index} className="anywhere">
          <span className={matches ? 'ok' : 'quiet'}>{matches ? 'Met' : 'Not met'}</span> <code>{plain(field)}</code>{' '}
          {operator.replaceAll('_', ' ')} {value !== undefined && <code>{plain(valueText(value))}</code>}
        </p>
      ))}
    </>
  );
}

export function TransformOutcome({ result }: { result: TransformResult }) {
  if (!result.success) {
    const { message, line, column } = result.error;
    return (
      <>
        <Verdict isGood={false}>Transform failed</Verdict>
        <p className="anywhere">
          {line !== null && `Line ${line}${column === null ? '' : `, column ${column}`}: `}
          <bdi>{plain(message)}</bdi>
        </p>
      </>
    );
  }
  const { output, outputContentType, durationMs } = result;
  return (
    <>
      <Verdict isGood>{`Transformed in ${durationText(durationMs)}`}</Verdict>
      {outputContentType && <p className="small quiet">Content type: {plain(outputContentType)}</p>}
      <Editor
        label="Output"
        language="json"
        readOnly
        value={typeof output === 'string' ? output : (JSON.stringify(output, null, 2) ?? '')}
      />
    </>
  );
}
