// What a schema, a filter or a transform made of a sample, in words.
import { Text } from '@mantine/core';
import type { FilterResult, SchemaResult, TransformResult } from 'hookyard/client';
import { Editor } from '../editor/Editor.tsx';
import { durationText, plain } from '../format.ts';

function Verdict({ isGood, children }: { isGood: boolean; children: string }) {
  return (
    <Text role="status" fw={600} data-good={isGood} className={isGood ? 'good' : 'problem'}>
      {isGood ? '✓' : '✗'} {children}
    </Text>
  );
}

export function SchemaOutcome({ result }: { result: SchemaResult }) {
  return (
    <>
      <Verdict isGood={result.valid}>{result.valid ? 'The payload matches' : 'The payload does not match'}</Verdict>
      <ul>
        {result.errors.map(({ path, message }) => (
          <li key={`${path} ${message}`} className="anywhere">
            <code>{plain(path || 'the payload')}</code>: {plain(message)}
          </li>
        ))}
      </ul>
    </>
  );
}

export function FilterOutcome({ result }: { result: FilterResult }) {
  return (
    <>
      <Verdict isGood={result.matches}>{result.matches ? 'The route takes it' : 'The route does not take it'}</Verdict>
      <ul>
        {result.conditions.map(({ field, operator, matches }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: conditions are told by their place
          <li key={index} className="anywhere">
            {matches ? '✓ met' : '✗ not met'}: <code>{plain(field)}</code> {operator.replaceAll('_', ' ')}
          </li>
        ))}
      </ul>
    </>
  );
}

export function TransformOutcome({ result }: { result: TransformResult }) {
  if (!result.success) {
    const { message, line, column } = result.error;
    return (
      <>
        <Verdict isGood={false}>It fails</Verdict>
        <Text className="anywhere">
          {line !== null && `Line ${line}${column === null ? '' : `, column ${column}`}: `}
          <bdi>{plain(message)}</bdi>
        </Text>
      </>
    );
  }
  const { output, outputContentType, durationMs } = result;
  return (
    <>
      <Verdict isGood>{`It works, in ${durationText(durationMs)}`}</Verdict>
      <Text size="sm">Sent as {outputContentType ? plain(outputContentType) : 'the type of its result'}</Text>
      <Editor
        label="What is sent"
        language="json"
        readOnly
        value={typeof output === 'string' ? output : (JSON.stringify(output, null, 2) ?? '')}
      />
    </>
  );
}
