// One transform: its code beside a real event and what it makes of it. Errors stand at their line.
import { NativeSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import type { Transform } from '@hookyard/client';
import { useMemo } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call, HookyardError } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Editor, type Mark } from '../../editor/Editor.tsx';
import { changedOf } from '../../forms/changed.ts';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { Fields, NAME_FIELDS } from '../../forms/fields.tsx';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { TransformOutcome } from '../../samples/Outcomes.tsx';
import { useSample } from '../../samples/Sample.tsx';
import { choicesOf } from '../../words/choices.ts';
import { Beside, RulePage } from './Frame.tsx';

type Language = Transform['type'];

const TYPING_MS = 500;
const LANGUAGES: Readonly<Record<Language, string>> = {
  javascript: 'JavaScript',
  jsonata: 'JSONata',
  liquid: 'Liquid',
};
const STARTS: Readonly<Record<Language, string>> = {
  javascript: 'export default function (event) {\n  return { id: event.payload.order.id };\n}\n',
  jsonata: '{ "id": payload.order.id }\n',
  liquid: 'Order {{ payload.order.id }}\n',
};

interface Values {
  name: string;
  description: string;
  type: Language;
  code: string;
  outputContentType: string;
}

const FIELDS = ['name', 'description', 'type', 'code', 'outputContentType'];
const NEW: Values = { name: '', description: '', type: 'javascript', code: STARTS.javascript, outputContentType: '' };
const valuesOf = ({ name, description, type, code, outputContentType }: Transform): Values => ({
  name,
  description: description ?? '',
  type,
  code,
  outputContentType: outputContentType ?? '',
});

const CONTENT_TYPE = {
  path: 'outputContentType',
  label: 'Content type of the output',
  placeholder: 'application/json, or text/plain for text',
};

export function TransformPage() {
  return (
    <RulePage
      what="transform"
      get="getTransform"
      remove="deleteTransform"
      form={(one) => (one ? <Form key={one.id} stored={one} /> : <Form />)}
    />
  );
}

function Form({ stored }: { stored?: Transform }) {
  const id = stored?.id;
  const navigate = useNavigate();
  const mayWrite = useMay('transforms:write');
  const sample = useSample();
  const record = useRecordForm<Values, Transform>({
    start: stored ? valuesOf(stored) : NEW,
    fields: FIELDS,
    stored: stored && { record: stored, load: () => call('getTransform', { id: stored.id }), valuesOf },
    save: (values, changed, terms) => {
      const body = {
        ...values,
        description: values.description || null,
        outputContentType: values.outputContentType || null,
      };
      if (id === undefined) return call('createTransform', { body });
      return call('updateTransform', { id, body: changedOf(body, changed) }, terms);
    },
    onSaved: (saved) => {
      if (id === undefined)
        void navigate({ to: `/transforms/${saved.id}`, search: (before: object) => before as never });
    },
  });
  const { form } = record;
  const { type, code, outputContentType } = form.values;
  const [tried] = useDebouncedValue(
    { ...sample.input, type, code, outputContentType: outputContentType || null },
    TYPING_MS,
  );
  const trial = useAsk('testCode', { body: tried }, { enabled: mayWrite && !sample.isLoading, keep: true });
  const marks = useMarks(trial.data, trial.error, tried.code === code);
  const choose = (next: Values['type']) => {
    // What nobody has changed yet is the start of the other language.
    if (code === STARTS[type]) form.setFieldValue('code', STARTS[next]);
    form.setFieldValue('type', next);
  };
  return (
    <Beside
      form={
        <FormFrame of={record} verb={id === undefined ? 'Create transform' : 'Save'} isWide mayWrite={mayWrite}>
          <Fields form={form} of={NAME_FIELDS} />
          <NativeSelect
            label="Language"
            value={type}
            error={form.errors.type}
            onChange={(event) => choose(event.currentTarget.value as Values['type'])}
            data={choicesOf(LANGUAGES)}
          />
          <Editor
            label="Code"
            language={type === 'javascript' ? 'javascript' : 'text'}
            value={code}
            readOnly={!mayWrite}
            onChange={(next) => form.setFieldValue('code', next)}
            marks={marks}
          />
          {form.errors.code && marks.length === 0 && (
            <p role="alert" className="bad">
              {form.errors.code}
            </p>
          )}
          <Fields form={form} of={[CONTENT_TYPE]} />
        </FormFrame>
      }
      sample={sample}
      scope="transforms:write"
      mayWrite={mayWrite}
      isDirty={record.isDirty}
      result={
        <>
          {trial.error && marks.length === 0 && <Failed error={trial.error} again={() => void trial.refetch()} />}
          {trial.data && <TransformOutcome result={trial.data} />}
        </>
      }
    />
  );
}

type Trial = ReturnType<typeof useAsk<'testCode'>>['data'];

/** Where the code that was tried is wrong; what was typed since then may have moved it. */
function useMarks(result: Trial, error: unknown, isOfThisCode: boolean): readonly Mark[] {
  return useMemo(() => {
    if (!isOfThisCode) return [];
    if (result && !result.success && result.error.line !== null && error === null) {
      return [{ line: result.error.line, message: result.error.message }];
    }
    const details =
      error instanceof HookyardError ? (error.details as readonly { message: string; line?: number }[]) : [];
    return details.flatMap(({ line, message }) => (line === undefined ? [] : [{ line, message }]));
  }, [result, error, isOfThisCode]);
}
