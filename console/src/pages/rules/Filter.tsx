// One filter: its conditions beside a real event, and which of them it meets.
import { useDebouncedValue } from '@mantine/hooks';
import type { Filter } from '@hookyard/client';
import { useAsk } from '../../api/queries.ts';
import { type ConditionRow, Conditions, conditionsOf, NEW_ROW, rowsOf } from '../../forms/Conditions.tsx';
import { FilterOutcome } from '../../samples/Sample.tsx';
import { asStored, type Member, NAMED } from '../../forms/members.ts';
import { rulePage } from './Frame.tsx';

const TYPING_MS = 400;

const members = {
  ...NAMED,
  conditions: {
    start: [{ ...NEW_ROW, field: 'payload.type' }],
    read: rowsOf,
    write: conditionsOf,
  } as Member<ConditionRow[]>,
  logic: asStored<Filter['logic']>('AND'),
};

export const FilterPage = rulePage({
  what: 'filter',
  members,
  useTrial: (form, sample, mayWrite) => {
    const { conditions, logic } = form.values;
    const [tried] = useDebouncedValue(
      { body: { ...sample.input, conditions: conditionsOf(conditions), logic } },
      TYPING_MS,
    );
    const isTried = mayWrite && !sample.isLoading && conditions.length > 0;
    const trial = useAsk('testConditions', tried, { enabled: isTried, keep: true });
    const met = trial.error ? undefined : trial.data?.conditions.map(({ matches }) => matches);
    return {
      entries: [
        {
          node: (
            <Conditions
              rows={conditions}
              onChange={(rows) => form.setFieldValue('conditions', rows)}
              logic={logic}
              onLogic={(next) => form.setFieldValue('logic', next)}
              error={form.errors.conditions}
              isFixed={!mayWrite}
              met={met?.length === conditions.length ? met : undefined}
            />
          ),
        },
      ],
      failed: trial,
      outcome: trial.data && !trial.error && <FilterOutcome result={trial.data} />,
    };
  },
});
