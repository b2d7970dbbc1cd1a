// What a schema, a filter or a transform made of a sample.
import { CheckIcon, Cross2Icon } from '../components/icons.tsx';
import type { FilterResult, SchemaResult, TransformResult } from '@hookyard/client';
import { Editor } from '../editor/Editor.tsx';
import { durationText, plain } from '../format.ts';

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
