// One filter: its conditions beside a real event, and which of them it meets.
import { useDebouncedValue } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import type { Filter } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { type ConditionRow, Conditions, conditionsOf, NEW_ROW, rowsOf } from '../../forms/Conditions.tsx';
import { changedOf } from '../../forms/changed.ts';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { Fields, NAME_FIELDS } from '../../forms/fields.tsx';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { FilterOutcome } from '../../samples/Outcomes.tsx';
import { useSample } from '../../samples/Sample.tsx';
import { Beside, RulePage } from './Frame.tsx';

const TYPING_MS = 400;

interface Values {
  name: string;
  description: string;
  conditions: ConditionRow[];
  logic: Filter['logic'];
}

const FIELDS = ['name', 'description', 'conditions', 'logic'];
const NEW: Values = { name: '', description: '', conditions: [{ ...NEW_ROW, field: 'payload.type' }], logic: 'AND' };
const valuesOf = ({ name, description, conditions, logic }: Filter): Values => ({
  name,
  description: description ?? '',
  conditions: rowsOf(conditions),
  logic,
});

export function FilterPage() {
  return (
    <RulePage
      what="filter"
      get="getFilter"
      remove="deleteFilter"
      form={(one) => (one ? <Form key={one.id} stored={one} /> : <Form />)}
    />
  );
}

function Form({ stored }: { stored?: Filter }) {
  const id = stored?.id;
  const navigate = useNavigate();
  const mayWrite = useMay('filters:write');
  const sample = useSample();
  const record = useRecordForm<Values, Filter>({
    start: stored ? valuesOf(stored) : NEW,
    fields: FIELDS,
    stored: stored && { record: stored, load: () => call('getFilter', { id: stored.id }), valuesOf },
    save: (values, changed, terms) => {
      const body = {
        ...values,
        description: values.description || null,
        conditions: conditionsOf(values.conditions),
      };
      if (id === undefined) return call('createFilter', { body });
      return call('updateFilter', { id, body: changedOf(body, changed) }, terms);
    },
    onSaved: (saved) => {
      if (id === undefined) void navigate({ to: `/filters/${saved.id}`, search: (before: object) => before as never });
    },
  });
  const { form } = record;
  const { conditions, logic } = form.values;
  const [tried] = useDebouncedValue(
    { body: { ...sample.input, conditions: conditionsOf(conditions), logic } },
    TYPING_MS,
  );
  const isTried = mayWrite && !sample.isLoading && conditions.length > 0;
  const trial = useAsk('testConditions', tried, { enabled: isTried, keep: true });
  const met = trial.error ? undefined : trial.data?.conditions.map(({ matches }) => matches);
  return (
    <Beside
      form={
        <FormFrame of={record} verb={id === undefined ? 'Create filter' : 'Save'} isWide mayWrite={mayWrite}>
          <Fields form={form} of={NAME_FIELDS} />
          <Conditions
            rows={conditions}
            onChange={(rows) => form.setFieldValue('conditions', rows)}
            logic={logic}
            onLogic={(next) => form.setFieldValue('logic', next)}
            error={form.errors.conditions}
            isFixed={!mayWrite}
            met={met?.length === conditions.length ? met : undefined}
          />
        </FormFrame>
      }
      sample={sample}
      scope="filters:write"
      mayWrite={mayWrite}
      isDirty={record.isDirty}
      result={
        <>
          {trial.error && <Failed error={trial.error} again={() => void trial.refetch()} />}
          {trial.data && !trial.error && <FilterOutcome result={trial.data} />}
        </>
      }
    />
  );
}
