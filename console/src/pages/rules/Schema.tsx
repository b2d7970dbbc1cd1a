// One schema: JSON Schema beside a real event, and at which lines the event does not match. It is tried as it is typed.
import { useDebouncedValue } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import type { Schema, SchemaResult } from '@hookyard/client';
import { useMemo } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call, HookyardError } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Editor, type Mark } from '../../editor/Editor.tsx';
import { jsonOrNothing } from '../../exact-json.ts';
import { lineOfPointer } from '../../json-place.ts';
import { changedOf } from '../../forms/changed.ts';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { Fields, NAME_FIELDS } from '../../forms/fields.tsx';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { SchemaOutcome } from '../../samples/Outcomes.tsx';
import { useSample } from '../../samples/Sample.tsx';
import { Beside, RulePage } from './Frame.tsx';
import { jsonProblem } from './json-problem.ts';

const TYPING_MS = 400;

interface Values {
  name: string;
  description: string;
  /** As text. */
  schema: string;
}

const FIELDS = ['name', 'description', 'schema'];
const START = { type: 'object', required: ['type'], properties: { type: { type: 'string' } } };
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
      form={(one) => (one ? <Form key={one.id} stored={one} /> : <Form />)}
    />
  );
}

function Form({ stored }: { stored?: Schema }) {
  const id = stored?.id;
  const navigate = useNavigate();
  const mayWrite = useMay('schemas:write');
  const sample = useSample();
  const record = useRecordForm<Values, Schema>({
    start: stored ? valuesOf(stored) : NEW,
    fields: FIELDS,
    stored: stored && { record: stored, load: () => call('getSchema', { id: stored.id }), valuesOf },
    save: (values, changed, terms) => {
      // A text that is no JSON is sent as it is: the API refuses it, and nothing is lost.
      const parsed = jsonOrNothing(values.schema);
      const body = {
        ...values,
        description: values.description || null,
        schema: (parsed ? parsed.value : values.schema) as Schema['schema'],
      };
      if (id === undefined) return call('createSchema', { body });
      return call('updateSchema', { id, body: changedOf(body, changed) }, terms);
    },
    onSaved: (saved) => {
      if (id === undefined) void navigate({ to: `/schemas/${saved.id}`, search: (before: object) => before as never });
    },
  });
  const { form } = record;
  const { schema } = form.values;
  const [tried] = useDebouncedValue({ schema, text: sample.text, input: sample.input }, TYPING_MS);
  const parsed = useMemo(() => jsonOrNothing(tried.schema), [tried.schema]);
  const { payload, headers } = tried.input;
  const body = { schema: (parsed ? parsed.value : false) as Schema['schema'], payload, headers };
  const isTried = parsed !== undefined && mayWrite && !sample.isLoading;
  const trial = useAsk('testSchema', { body }, { enabled: isTried, keep: true });
  const isNow = isTried && tried.schema === schema;
  const marks = useSchemaMarks(schema, isNow ? trial.error : null);
  const isOfThisSample = isNow && sample.isJson && tried.text === sample.text && trial.error === null;
  const misfits = usePayloadMarks(sample.text, isOfThisSample ? trial.data : undefined);
  return (
    <Beside
      form={
        <FormFrame of={record} verb={id === undefined ? 'Create schema' : 'Save'} isWide mayWrite={mayWrite}>
          <Fields form={form} of={NAME_FIELDS} />
          <Editor
            label="JSON Schema"
            language="json"
            value={schema}
            readOnly={!mayWrite}
            onChange={(next) => form.setFieldValue('schema', next)}
            marks={marks}
          />
          {form.errors.schema && marks.length === 0 && (
            <p role="alert" className="bad">
              {form.errors.schema}
            </p>
          )}
        </FormFrame>
      }
      sample={sample}
      marks={misfits}
      scope="schemas:write"
      mayWrite={mayWrite}
      isDirty={record.isDirty}
      result={
        <>
          {parsed === undefined && <p className="quiet">Waiting for valid JSON</p>}
          {isTried && trial.error && marks.length === 0 && (
            <Failed error={trial.error} again={() => void trial.refetch()} />
          )}
          {isTried && trial.data && !trial.error && <SchemaOutcome result={trial.data} />}
        </>
      }
    />
  );
}

/** Where the schema is no JSON, or no JSON Schema: the message of the API begins with a pointer into it. */
function useSchemaMarks(schema: string, error: unknown): readonly Mark[] {
  return useMemo(() => {
    const problems = jsonProblem(schema);
    if (problems.length > 0 || !(error instanceof HookyardError) || error.code !== 'INVALID_SCHEMA') return problems;
    return error.details.map(({ message }) => {
      const [pointer = ''] = /(?<=^|\s)\/[^\s:]*/.exec(message) ?? [];
      return { line: lineOfPointer(schema, pointer), message };
    });
  }, [schema, error]);
}

/** Where the payload does not match. */
function usePayloadMarks(text: string, result: SchemaResult | undefined): readonly Mark[] {
  return useMemo(
    () => result?.errors.map(({ path, message }) => ({ line: lineOfPointer(text, path), message })) ?? [],
    [text, result],
  );
}
