// Creates or changes a route.
import { Button, NativeSelect } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { UseFormReturnType } from '@mantine/form';
import type { Route } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { useAll } from '../../api/lists.ts';
import { useAsk } from '../../api/queries.ts';
import { PlusIcon } from '../../components/icons.tsx';
import { Names } from '../../components/names.tsx';
import {
  type ConditionRow,
  Conditions,
  conditionsOf,
  conditionText,
  NEW_ROW,
  rowsOf,
} from '../../forms/Conditions.tsx';
import {
  choice,
  enabled,
  type Entry,
  flag,
  folded,
  NAME_FIELDS,
  record,
  RecordField,
  records,
  text,
  whole,
} from '../../forms/fields.tsx';
import { type Member, NAMED, optional, asStored, type ValuesOf, wordsIn } from '../../forms/members.ts';
import { recordPages } from '../../forms/recordPages.tsx';
import { choicesOf } from '../../format.ts';
import { usePageSearch } from '../../search.ts';
import { NewDestinationDialog } from '../destinations/DestinationForm.tsx';

const LANES: Readonly<Record<NonNullable<Route['lane']>, string>> = {
  adaptive: 'Adaptive: workflow while capacity allows',
  workflow: 'Workflow',
  express: 'Express: relay',
};

/** Without codes and text any 2xx is a success. */
const expectedResponse: Member<{ statusCodes: string; bodyContains: string }> = {
  start: { statusCodes: '', bodyContains: '' },
  read: (stored: Route['expectedResponse']) => ({
    statusCodes: stored?.statusCodes?.join(', ') ?? '',
    bodyContains: stored?.bodyContains ?? '',
  }),
  write: ({ statusCodes, bodyContains }) => {
    // What is no number is sent as it is: the API says what is wrong with it.
    const codes = wordsIn(statusCodes).map((text) => (/^\d+$/.test(text) ? Number(text) : text));
    const members = { ...(codes.length > 0 && { statusCodes: codes }), ...(bodyContains !== '' && { bodyContains }) };
    return Object.keys(members).length === 0 ? null : members;
  },
};

/** `by` is `off` (null is stored), `field`, or `route` (the key is null). */
const ordering: Member<Record<'by' | 'key' | 'missingKey' | 'onExhausted', string> & { holdSeconds: number | null }> = {
  start: { by: 'off', key: '', missingKey: 'unordered', onExhausted: 'hold', holdSeconds: 86_400 },
  read: (stored: Route['ordering']) =>
    stored ? { ...stored, by: stored.key === null ? 'route' : 'field', key: stored.key ?? '' } : ordering.start,
  write: ({ by, key, ...rest }) => (by === 'off' ? null : { key: by === 'route' ? null : key, ...rest }),
};

const members = {
  ...NAMED,
  sourceId: asStored<string | null>(null),
  destinationIds: asStored<string[]>([]),
  filterId: asStored<string | null>(null),
  filterConditions: {
    start: null,
    read: (stored: Route['filterConditions']) => stored && rowsOf(stored),
    write: (rows) => rows && conditionsOf(rows),
  } as Member<ConditionRow[] | null>,
  filterLogic: asStored<'AND' | 'OR'>('AND'),
  schemaId: asStored<string | null>(null),
  transformId: asStored<string | null>(null),
  priority: asStored<number | null>(0),
  failoverDestinationIds: asStored<string[]>([]),
  failoverAfterAttempts: asStored<number | null>(3),
  circuitFailureThreshold: asStored<number | null>(5),
  circuitCooldownSeconds: asStored<number | null>(300),
  circuitProbeSuccessThreshold: asStored<number | null>(2),
  expectedResponse,
  ordering,
  notifyEmails: optional,
  notifyOnFailure: asStored(false),
  notifyOnSuccess: asStored(false),
  notifyOnRecovery: asStored(false),
  lane: optional,
  allowOwnAddress: asStored(false),
  enabled: asStored(true),
};

type Form = UseFormReturnType<ValuesOf<typeof members>>;

const { New, Edit, Settings } = recordPages<typeof members, Route>({
  what: 'route',
  members,
  useStart: () => {
    const [{ sourceId, destinationId }] = usePageSearch();
    return { sourceId: sourceId ?? null, destinationIds: destinationId ? [destinationId] : [] };
  },
  useEntries: (form, stored) => fieldsOf(form, stored !== undefined),
});
export { Edit as EditRoute, New as NewRoute, Settings };

function fieldsOf(form: Form, isStored: boolean): Entry[] {
  const { destinationIds, filterId, filterConditions, ordering } = form.values;
  return [
    ...NAME_FIELDS,
    record('sourceId', 'Source', 'listSources', { isRequired: true, isFixed: isStored }),
    records('destinationIds', 'Destinations', 'listDestinations', {
      help: 'Each destination receives every event on the route.',
      most: 50,
      isRequired: true,
    }),
    { node: <NewDestination form={form} /> },
    {
      node: <FilterFields form={form} />,
      paths: ['filterId', 'filterConditions'],
      facts: {
        Filter:
          filterId !== null ? (
            <Names list="listFilters" ids={[filterId]} />
          ) : (
            filterConditions?.map((row) => <div key={JSON.stringify(row)}>{conditionText(row)}</div>)
          ),
      },
    },
    folded('Schema and transform', [
      record('schemaId', 'Schema', 'listSchemas', { help: 'Events whose payload does not match are not delivered.' }),
      record('transformId', 'Transform', 'listTransforms', {
        help: 'Without a transform, the payload is sent as received.',
      }),
    ]),
    folded('Failover and circuit breaker', [
      records('failoverDestinationIds', 'Failover destinations', 'listDestinations', {
        help: 'Up to three, tried in this order.',
        most: 3,
        leaveOut: destinationIds,
      }),
      [
        whole('failoverAfterAttempts', 'Failed attempts before failover'),
        whole('circuitFailureThreshold', 'Failure threshold (consecutive failures)'),
      ],
      [
        whole('circuitCooldownSeconds', 'Cooldown', { unit: 'seconds' }),
        whole('circuitProbeSuccessThreshold', 'Successful probes before closing'),
      ],
    ]),
    folded('Ordering', orderingFields(ordering)),
    folded('Success criteria', [
      [
        text('expectedResponse.statusCodes', 'Status codes', { help: 'Comma-separated.', empty: 'Any 2xx' }),
        text('expectedResponse.bodyContains', 'Response body contains'),
      ],
    ]),
    folded('Notifications', [
      text('notifyEmails', 'Email addresses', { help: 'Comma-separated.' }),
      flag('notifyOnFailure', 'Email when a delivery fails'),
      flag('notifyOnRecovery', 'Email when deliveries succeed again'),
      flag('notifyOnSuccess', 'Email when deliveries succeed (at most once a minute)'),
    ]),
    folded('Advanced', [
      whole('priority', 'Priority', {
        help: 'For each destination, deliveries from routes with higher values are sent first.',
      }),
      choice('lane', 'Lane', { '': 'Server default', ...LANES }),
      flag('allowOwnAddress', 'Allow deliveries to this installation'),
    ]),
    enabled('A disabled route receives no events.'),
  ];
}

const ORDERS = { off: 'Off', field: 'Events with the same key', route: 'All events on the route' };

function orderingFields({ by, onExhausted }: Form['values']['ordering']): Entry[] {
  return [
    choice('ordering.by', 'Deliver in order', ORDERS),
    by === 'field' &&
      text('ordering.key', 'Ordering key', {
        help: 'The event field that contains the key.',
        placeholder: 'payload.order.id',
        isRequired: true,
      }),
    by === 'field' &&
      choice('ordering.missingKey', 'Events without a key', {
        unordered: 'Deliver in any order',
        together: 'Deliver in order, under one key',
      }),
    by !== 'off' && [
      choice('ordering.onExhausted', 'When retries are used up', {
        hold: 'Block the key',
        continue: 'Deliver the next event',
      }),
      onExhausted === 'hold' && whole('ordering.holdSeconds', 'Block for', { unit: 'seconds' }),
    ],
  ];
}

/** Makes a destination without leaving the form. */
function NewDestination({ form }: { form: Form }) {
  const mayWrite = useMay('destinations:write');
  const [isOpen, { open, close }] = useDisclosure();
  if (!mayWrite) return null;
  return (
    <div>
      <Button variant="default" leftSection={<PlusIcon />} onClick={open}>
        New destination
      </Button>
      {isOpen && (
        <NewDestinationDialog
          onClose={close}
          onSaved={({ id }) => {
            form.setFieldValue('destinationIds', [...form.getValues().destinationIds, id]);
            close();
          }}
        />
      )}
    </div>
  );
}

/** Where the provider of a source has the event type, and an example. */
function useEventType(sourceId: string | null): { field: string; example: string | undefined } | undefined {
  const mayRead = useMay('sources:read');
  const source = useAsk('getSource', { id: sourceId ?? '' }, { enabled: mayRead && Boolean(sourceId) });
  const name = source.data?.provider ?? null;
  const providers = useAll('listProviders', name !== null);
  const provider = providers.data?.records.find((one) => one.name === name);
  if (!provider?.eventType) return undefined;
  const { header, payload } = provider.eventType;
  return { field: header ? `headers.${header.toLowerCase()}` : `payload.${payload}`, example: provider.samples[0] };
}

function FilterFields({ form }: { form: Form }) {
  const eventType = useEventType(form.values.sourceId);
  const { values } = form;
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  const kind = values.filterConditions !== null ? 'own' : values.filterId !== null ? 'record' : 'none';
  const choose = (next: string) => {
    set('filterConditions', next === 'own' ? [{ ...NEW_ROW, field: eventType?.field ?? NEW_ROW.field }] : null);
    set('filterId', next === 'record' ? '' : null);
  };
  return (
    <>
      <NativeSelect
        label="Filter"
        value={kind}
        onChange={(event) => choose(event.currentTarget.value)}
        data={choicesOf({ none: 'None: all events', record: 'Shared filter', own: 'Custom conditions' })}
      />
      {kind === 'record' && (
        <RecordField
          label="Shared filter"
          list="listFilters"
          value={values.filterId}
          onChange={(filterId) => set('filterId', filterId ?? '')}
          error={form.errors.filterId}
          required
        />
      )}
      {values.filterConditions !== null && (
        <Conditions
          rows={values.filterConditions}
          onChange={(rows) => set('filterConditions', rows)}
          logic={values.filterLogic}
          onLogic={(logic) => set('filterLogic', logic)}
          error={form.errors.filterConditions}
          help={
            eventType &&
            `Event type: ${eventType.field}${eventType.example ? ` (for example ${eventType.example})` : ''}.`
          }
        />
      )}
    </>
  );
}
