// A real event to try filters, transforms and schemas on: chosen from the last ones, and changed by hand where one likes.
import { Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useMay } from '../api/caller.tsx';
import { useAsk } from '../api/queries.ts';
import { Failed } from '../components/Failed.tsx';
import { Name } from '../components/Name.tsx';
import { Editor, type Mark } from '../editor/Editor.tsx';
import { jsonOrNothing } from '../exact-json.ts';
import { timeText } from '../format.ts';
import { RecordField } from '../forms/fields.tsx';
import { usePageSearch } from '../search.ts';
import { useZone } from '../zone.tsx';

const LATEST = 25;
const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i;
const START = JSON.stringify({ kind: 'order.paid', order: { id: 42, total: 59.9, currency: 'EUR' } }, null, 2);

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

/** The event of the address (`?event=evt_…`), or a made-up one. */
export function useSample(): Sample {
  const [{ event: eventId }] = usePageSearch();
  const mayRead = useMay('payloads:read');
  const [text, setText] = useState(START);
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
  const parsed = jsonOrNothing(text);
  return {
    eventId,
    text,
    setText,
    input: {
      payload: parsed ? parsed.value : text,
      ...(event && { headers: event.headers, query: event.query, method: event.method }),
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
  marks?: readonly Mark[];
}

/** Chooses the event, and shows its payload. */
export function SampleField({ sample, sourceId, marks }: FieldProps) {
  const [search, set] = usePageSearch();
  const mayList = useMay('events:read');
  const mayRead = useMay('payloads:read');
  const from = sourceId ?? search.source;
  const isPossible = mayList && mayRead;
  return (
    <section aria-label="Sample">
      {isPossible ? (
        <Group align="end" gap="xs" mb="xs">
          {sourceId === undefined && (
            <RecordField
              label="Events of"
              list="listSources"
              value={search.source ?? null}
              onChange={(source) => set({ source: source ?? undefined })}
            />
          )}
          <Latest sourceId={from} eventId={sample.eventId} choose={(event) => set({ event })} />
          <TextInput
            label="or an id"
            placeholder="evt_…"
            key={sample.eventId}
            defaultValue={sample.eventId}
            onBlur={({ currentTarget: { value } }) =>
              value !== (sample.eventId ?? '') && set({ event: value || undefined })
            }
          />
        </Group>
      ) : (
        <Text size="sm">This key may not read payloads, so there is no real event here.</Text>
      )}
      {sample.error !== null && <Failed error={sample.error} />}
      {sample.eventId && (
        <Text size="sm" mb={4}>
          <Name id={sample.eventId} />
        </Text>
      )}
      <Editor label="Payload" language="json" value={sample.text} onChange={sample.setText} marks={marks} />
      {!sample.isJson && <Text size="sm">This is no JSON: it is tried as {sample.isForm ? 'a form' : 'a text'}.</Text>}
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
  const choices = events.map(({ id, receivedAt, status, source }) => ({
    value: id,
    label: `${timeText(receivedAt, zone)}, ${status}${sourceId ? '' : `, ${source.name}`}`,
  }));
  const isKnown = eventId === undefined || events.some(({ id }) => id === eventId);
  return (
    <NativeSelect
      label="A late event"
      value={eventId ?? ''}
      error={error ? 'The events could not be loaded' : undefined}
      onChange={(event) => choose(event.currentTarget.value || undefined)}
      data={[
        { value: '', label: events.length === 0 ? 'There is none' : 'Choose one' },
        ...choices,
        ...(isKnown ? [] : [{ value: eventId, label: eventId }]),
      ]}
    />
  );
}
