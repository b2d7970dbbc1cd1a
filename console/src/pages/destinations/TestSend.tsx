// A test of a destination: what it answers to a webhook, or whether a file can be written. It counts in no figures.
import { Alert, Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useAct } from '../../api/queries.ts';
import { Count } from '../../components/Count.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Editor } from '../../editor/Editor.tsx';
import { jsonOrNothing } from '../../exact-json.ts';
import { durationText, plain, shortened, sizeText } from '../../format.ts';

const SAMPLE = JSON.stringify({ kind: 'test', message: 'Hello from Hookyard' }, null, 2);
const MOST = 2000;

export function TestSend({ id, isWarehouse }: { id: string; isWarehouse: boolean }) {
  const [text, setText] = useState(SAMPLE);
  const [isOwn, setOwn] = useState(false);
  const test = useAct('testDestination');
  const parsed = jsonOrNothing(text);
  const isObject = typeof parsed?.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value);
  const send = () => test.mutate({ id, ...(isOwn && { body: { payload: parsed?.value as Record<string, unknown> } }) });
  return (
    <section aria-label="Test">
      <h2>Test</h2>
      <Group gap="xs" mb="xs">
        <Button size="xs" variant="default" loading={test.isPending} disabled={isOwn && !isObject} onClick={send}>
          {isWarehouse ? 'Write a test file' : 'Send a test webhook'}
        </Button>
        {!isOwn && (
          <Button size="xs" variant="subtle" onClick={() => setOwn(true)}>
            with a payload of your own
          </Button>
        )}
      </Group>
      {isOwn && <Editor label="Payload of the test" language="json" value={text} onChange={setText} />}
      {isOwn && !isObject && <Text size="sm">It must be a JSON object.</Text>}
      {test.error && <Failed error={test.error} />}
      {test.data && <Outcome of={test.data} />}
      {test.data?.success && <Next id={id} />}
    </section>
  );
}

/** A test mends nothing that failed before. */
function Next({ id }: { id: string }) {
  const maySee = useMay('deliveries:read');
  if (!maySee) return null;
  const search = { destinationId: id, status: 'failed' as const };
  return (
    <Text size="sm">
      What has failed for good is not sent again by itself:{' '}
      <Link to="/deliveries" search={{ ...search, range: 'all' } as never}>
        <Count list="listDeliveries" input={search} one="delivery has failed here" many="deliveries have failed here" />
      </Link>
      . “Replay” there sends them again.
    </Text>
  );
}

type Result = NonNullable<ReturnType<typeof useAct<'testDestination'>>['data']>;

function Outcome({ of }: { of: Result }) {
  const body = 'responseBody' in of ? of.responseBody : null;
  const code = 'statusCode' in of ? of.statusCode : null;
  return (
    <Alert
      role="status"
      color={of.success ? 'green' : 'red'}
      title={of.success ? 'It works' : 'It does not work'}
      my="xs"
    >
      <Text className="anywhere">
        {plain(of.success ? of.message : of.error)}
        {code !== null && `, code ${code}`}, {durationText(of.latency)}
      </Text>
      {'result' in of && (
        <Text className="anywhere">
          {plain(of.result.key)}: {of.result.count} rows, {sizeText(of.result.size)}
        </Text>
      )}
      {'result' in of && of.result.conversions.length > 0 && (
        <Text className="anywhere">
          Did not fit: <bdi>{plain(of.result.conversions.map(({ target }) => target).join(', '))}</bdi>
        </Text>
      )}
      {'result' in of && of.result.row && (
        <Text className="anywhere" size="sm">
          <bdi>{plain(shortened(JSON.stringify(of.result.row), MOST))}</bdi>
        </Text>
      )}
      {body && (
        <Text className="anywhere" size="sm">
          <bdi>{plain(shortened(body, MOST))}</bdi>
        </Text>
      )}
    </Alert>
  );
}
