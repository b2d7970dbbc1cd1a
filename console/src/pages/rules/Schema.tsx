// One schema: JSON Schema beside a real event, and where the event does not match. What is not stored yet cannot be tried: the API
// validates with a stored schema.
import { Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import type { Schema } from 'hookyard/client';
import { useMemo } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Editor } from '../../editor/Editor.tsx';
import { jsonOrNothing } from '../../exact-json.ts';
import { changedOf } from '../../forms/changed.ts';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { NameFields } from '../../forms/fields.tsx';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { SchemaOutcome } from '../../samples/Outcomes.tsx';
import { SampleField, useSample } from '../../samples/Sample.tsx';
import { Beside, ReplayTried, RulePage } from './Frame.tsx';
import { jsonProblem } from './json-problem.ts';

const TYPING_MS = 400;

interface Values {
  name: string;
  description: string;
  /** As text. */
  schema: string;
}

const FIELDS = ['name', 'description', 'schema'];
const START = { type: 'object', required: ['kind'], properties: { kind: { type: 'string' } } };
const NEW: Values = { name: '', description: '', schema: JSON.stringify(START, null, 2) };
const valuesOf = ({ name, description, schema }: Schema): Values => ({
  name,
  description: description ?? '',
  schema: JSON.stringify(schema, null, 2),
});

export function SchemaPage() {
  return (
    <RulePage
      what="schema"
      get="getSchema"
      remove="deleteSchema"
      form={(one) =>
        one ? <Form key={one.id} id={one.id} version={one.version} start={valuesOf(one)} /> : <Form start={NEW} />
      }
    />
  );
}

function Form({ id, version, start }: { id?: string; version?: number; start: Values }) {
  const navigate = useNavigate();
  const mayWrite = useMay('schemas:write');
  const sample = useSample();
  const record = useRecordForm<Values, Schema>({
    start,
    fields: FIELDS,
    load: id === undefined ? undefined : async () => valuesOf(await call('getSchema', { id })),
    save: (values, changed) => {
      // A text that is no JSON is sent as it is: the API refuses it, and nothing is lost.
      const parsed = jsonOrNothing(values.schema);
      const body = {
        ...values,
        description: values.description || null,
        schema: (parsed ? parsed.value : values.schema) as Schema['schema'],
      };
      if (id === undefined) return call('createSchema', { body });
      return call('updateSchema', { id, body: changedOf(body, changed) });
    },
    onSaved: (saved) => {
      if (id === undefined) void navigate({ to: `/schemas/${saved.id}`, search: (before: object) => before as never });
    },
  });
  const { form } = record;
  const { schema } = form.values;
  const marks = useMemo(() => jsonProblem(schema), [schema]);
  const [payload] = useDebouncedValue(sample.input.payload, TYPING_MS);
  const isTried = id !== undefined && mayWrite && !sample.isLoading;
  const body = { payload, headers: sample.input.headers };
  const trial = useAsk('validatePayload', { id: id ?? '', body }, { enabled: isTried, keep: true });
  return (
    <Beside
      form={
        <FormFrame of={record} verb={id === undefined ? 'Make the schema' : 'Save'} isWide mayWrite={mayWrite}>
          <NameFields form={form} />
          <Editor
            label="JSON Schema"
            language="json"
            value={schema}
            readOnly={!mayWrite}
            onChange={(next) => form.setFieldValue('schema', next)}
            marks={marks}
          />
          {form.errors.schema && (
            <Text role="alert" size="sm" className="problem">
              {form.errors.schema}
            </Text>
          )}
        </FormFrame>
      }
      trial={
        <>
          <SampleField sample={sample} />
          <h2>Result</h2>
          {!mayWrite && <Text>This key may not try it: that needs schemas:write.</Text>}
          {id === undefined && <Text>Make the schema first: the API tries one that is stored.</Text>}
          {record.isDirty && id !== undefined && (
            <Text size="sm">Of version {version}, which is stored: save to try what you changed.</Text>
          )}
          {trial.error && <Failed error={trial.error} again={() => void trial.refetch()} />}
          {trial.data && !trial.error && <SchemaOutcome result={trial.data} />}
          <ReplayTried sample={sample} isDirty={record.isDirty} />
        </>
      }
    />
  );
}
