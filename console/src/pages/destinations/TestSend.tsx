// A test of a destination: what it answers to a webhook, or whether a file can be written. It is not counted in
// figures.
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useAct } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Callout, Card } from '../../components/ui.tsx';
import { Editor } from '../../editor/Editor.tsx';
import { jsonOrNothing } from '../../json.ts';
import { durationText, plain, plural, shortened, sizeText } from '../../format.ts';

const SAMPLE = JSON.stringify({ type: 'test', message: 'This is a test event from Hookyard' }, null, 2);
const MOST = 2000;

export function TestSend({ id, isWarehouse }: { id: string; isWarehouse: boolean }) {
  const [text, setText] = useState(SAMPLE);
  const [isOwn, setOwn] = useState(false);
  const test = useAct('testDestination');
  const parsed = jsonOrNothing(text);
  const isObject = typeof parsed?.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value);
  const isShown = isOwn || !isWarehouse;
  const send = () =>
    test.mutate({ id, ...(isShown && { body: { payload: parsed?.value as Record<string, unknown> } }) });
  return (
    <Card
      title="Test"
      actions={
        <>
          {!isOwn && (
            <Button variant="subtle" onClick={() => setOwn(true)}>
              Edit payload
            </Button>
          )}
          <Button variant="default" loading={test.isPending} disabled={isOwn && !isObject} onClick={send}>
            {isWarehouse ? 'Write test file' : 'Send test webhook'}
          </Button>
        </>
      }
    >
      <div className="stack">
        {!isOwn && (
          <p className="quiet">
            {isWarehouse
              ? 'Checks access by writing a file with one event. The file stays in the _test folder.'
              : 'Sends a webhook whose payload and headers mark it as a test. Tests do not affect the health of the destination.'}
          </p>
        )}
        {isOwn && <Editor label="Test payload" language="json" value={text} onChange={setText} />}
        {isOwn && !isObject && <p className="small bad">The payload must be a JSON object</p>}
        {test.error && <Failed error={test.error} />}
        {test.data && <Outcome of={test.data} />}
      </div>
    </Card>
  );
}

type Result = NonNullable<ReturnType<typeof useAct<'testDestination'>>['data']>;

function Outcome({ of }: { of: Result }) {
  const body = 'responseBody' in of ? of.responseBody : null;
  const code = 'statusCode' in of ? of.statusCode : null;
  const lines = [
    !of.success && plain(of.error),
    [code !== null && `HTTP ${code}`, durationText(of.latency)].filter(Boolean).join(', '),
  ].filter((line) => line !== false);
  if ('result' in of) {
    const { key, count, size, conversions, row } = of.result;
    lines.push(`${plain(key)}: ${plural(count, 'row')}, ${sizeText(size)}`);
    if (conversions.length > 0) lines.push(`Converted: ${plain(conversions.map(({ target }) => target).join(', '))}`);
    if (row) lines.push(plain(shortened(JSON.stringify(row), MOST)));
  }
  if (body) lines.push(plain(shortened(body, MOST)));
  return (
    <Callout role="status" tone={of.success ? 'ok' : 'bad'} title={of.success ? 'Test succeeded' : 'Test failed'}>
      {lines.map((line) => (
        <div key={line}>
          <bdi>{line}</bdi>
        </div>
      ))}
    </Callout>
  );
}
