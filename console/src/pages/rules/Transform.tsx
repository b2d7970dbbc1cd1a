// One transform: its code beside a real event and what it makes of it. Errors stand at their line.
import { useDebouncedValue } from '@mantine/hooks';
import type { Transform } from '@hookyard/client';
import { useMemo } from 'react';
import { HookyardError } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import type { Mark } from '../../editor/Editor.tsx';
import { choice, text } from '../../forms/fields.tsx';
import { TransformOutcome } from '../../samples/Sample.tsx';
import { asStored, NAMED, optional } from '../../forms/members.ts';
import { editorOf, rulePage } from './Frame.tsx';

type Language = Transform['type'];

const TYPING_MS = 500;
export const LANGUAGES: Readonly<Record<Language, string>> = {
  javascript: 'JavaScript',
  jsonata: 'JSONata',
  liquid: 'Liquid',
};
const STARTS: Readonly<Record<Language, string>> = {
  javascript: 'export default function (event) {\n  return { id: event.payload.order.id };\n}\n',
  jsonata: '{ "id": payload.order.id }\n',
  liquid: 'Order {{ payload.order.id }}\n',
};

const members = {
  ...NAMED,
  type: asStored<Language>('javascript'),
  code: asStored(STARTS.javascript),
  outputContentType: optional,
};

export const TransformPage = rulePage({
  what: 'transform',
  members,
  useTrial: (form, sample, mayWrite) => {
    const { type, code, outputContentType } = form.values;
    const [tried] = useDebouncedValue(
      { ...sample.input, type, code, outputContentType: outputContentType || null },
      TYPING_MS,
    );
    const trial = useAsk('testCode', { body: tried }, { enabled: mayWrite && !sample.isLoading, keep: true });
    const marks = useMarks(trial.data, trial.error, tried.code === code);
    const onChange = (next: string) => {
      // What nobody has changed yet is the start of the other language.
      if (code === STARTS[type]) form.setFieldValue('code', STARTS[next as Language]);
    };
    return {
      entries: [
        choice('type', 'Language', LANGUAGES, { onChange }),
        editorOf(form, 'code', {
          label: 'Code',
          language: type === 'javascript' ? 'javascript' : 'text',
          marks,
          isFixed: !mayWrite,
        }),
        text('outputContentType', 'Output content type', { placeholder: 'application/json, or text/plain for text' }),
      ],
      failed: marks.length === 0 && trial,
      outcome: trial.data && <TransformOutcome result={trial.data} />,
    };
  },
});

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
