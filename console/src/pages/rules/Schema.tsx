// One schema: JSON Schema beside a real event, and at which lines the event does not match. It is tried as it is typed.
import type { Schema, SchemaResult } from '@hookyard/client';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo } from 'react';
import { HookyardError } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import type { Mark } from '../../editor/Editor.tsx';
import { type Member, NAMED } from '../../forms/members.ts';
import { jsonOrNothing } from '../../json.ts';
import { lineOfPointer } from '../../payload/scan.ts';
import { SchemaOutcome } from '../../samples/Sample.tsx';
import { editorOf, rulePage } from './Frame.tsx';

const TYPING_MS = 400;
const START = { type: 'object', required: ['type'], properties: { type: { type: 'string' } } };

const NO_MARKS: Mark[] = [];

const members = {
  ...NAMED,
  /** As text. */
  schema: {
    start: JSON.stringify(START, null, 2),
    read: (stored: Schema['schema']) => JSON.stringify(stored, null, 2),
    write: (text) => {
      // A text that is no JSON is sent as it is: the API refuses it, and nothing is lost.
      const parsed = jsonOrNothing(text);
      return parsed ? parsed.value : text;
    },
  } as Member<string>,
};

export const SchemaPage = rulePage({
  what: 'schema',
  members,
  useTrial: (form, sample, mayWrite) => {
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
    return {
      entries: [editorOf(form, 'schema', { label: 'JSON Schema', language: 'json', marks, isFixed: !mayWrite })],
      marks: misfits,
      failed: isTried && marks.length === 0 && trial,
      outcome: (
        <>
          {parsed === undefined && <p className="quiet">Waiting for valid JSON</p>}
          {isTried && trial.data && !trial.error && <SchemaOutcome result={trial.data} />}
        </>
      ),
    };
  },
});

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

/** Where a text stops being JSON. Browsers say it in words of their own: by a position, or by a line and a column. */
function jsonProblem(text: string): readonly Mark[] {
  try {
    JSON.parse(text);
    return NO_MARKS;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = Number(/\bline (\d+)/.exec(message)?.[1]);
    const position = Number(/\bposition (\d+)/.exec(message)?.[1]);
    const found = line || (Number.isFinite(position) ? text.slice(0, position).split('\n').length : lastLine(text));
    return [{ line: found, message: `Invalid JSON: ${message}` }];
  }
}

const lastLine = (text: string): number => text.trimEnd().split('\n').length;
