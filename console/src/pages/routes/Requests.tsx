// What each destination of a route would get of a stored event now. Nothing is sent.
import { Alert, Text } from '@mantine/core';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Headers } from '../../components/Headers.tsx';
import { plain } from '../../format.ts';

export function Requests({ routeId, eventId }: { routeId: string; eventId: string }) {
  const may = useMay('payloads:read');
  const { data, error, refetch } = useAsk('previewRoute', { id: routeId, body: { eventId } }, { enabled: may });
  if (!may) return null;
  return (
    <section aria-label="Requests it would send">
      <h3>Requests it would send</h3>
      <Text size="sm" className="quiet">
        For the stored event, not as it was changed here.
      </Text>
      {error && <Failed error={error} again={() => void refetch()} />}
      {data && data.requests.length === 0 && <p>None: {plain(data.error ?? 'its filter refuses the event.')}</p>}
      {data?.requests.map(({ destinationId, destinationName, enabled, request, problem }) => (
        <article key={destinationId}>
          <h4>
            {plain(destinationName)}
            {!enabled && ' (disabled: nothing is sent)'}
          </h4>
          {problem && <Alert title={problem.code}>{plain(problem.message)}</Alert>}
          {request && (
            <>
              <Text className="anywhere">
                <strong>{request.method}</strong> <bdi>{plain(request.url)}</bdi>
              </Text>
              <Headers title={`Request headers for ${plain(destinationName)}`} of={request.headers} />
            </>
          )}
        </article>
      ))}
    </section>
  );
}
