// How a sender is connected: the address, and what its provider needs.
import { Button, Code, Group, Text } from '@mantine/core';
import type { Provider, ProviderPlace, Source } from 'hookyard/client';
import { useAll } from '../../api/all.ts';
import { shellQuoted } from '../../api/curl.ts';
import { copy } from '../../components/CopyMenu.tsx';
import { Facts } from '../../components/Facts.tsx';
import { Failed } from '../../components/Failed.tsx';
import { plain } from '../../format.ts';

export function Connect({ source }: { source: Source }) {
  const { webhookUrl: url, provider, verificationConfig } = source;
  const { data, error, refetch } = useAll('listProviders', provider !== null);
  const known = data?.records.find(({ name }) => name === provider);
  const isOpen = provider === null && verificationConfig.type === 'none';
  const curl = `curl -H 'Content-Type: application/json' -d '{"type":"order.paid"}' ${shellQuoted(url)}`;
  return (
    <section aria-label="Connect the sender">
      <h2>Connect the sender</h2>
      <Group gap="xs" align="start">
        <Code className="anywhere" aria-label="Address">
          {url}
        </Code>
        <Button size="xs" variant="default" onClick={() => void copy(url, 'The address')}>
          Copy the address
        </Button>
        {isOpen && (
          <Button size="xs" variant="default" onClick={() => void copy(curl, 'The command')}>
            Copy a curl command that sends one
          </Button>
        )}
      </Group>
      {url.includes('•') && (
        <Text size="sm">This key may not see the whole address: that needs sources:write or secrets:read.</Text>
      )}
      {isOpen && source.ingestToken !== 'required' && (
        <Text size="sm">Anyone who knows the address may send: nothing proves who does.</Text>
      )}
      {error && <Failed error={error} again={() => void refetch()} />}
      {known && (
        <>
          <Instructions of={known} />
          <Facts
            of={[
              ['Kind of event', placeText(known.eventType)],
              ['Id of event', placeText(known.eventId)],
              ['A repeat is known by', dedupText(known.dedup)],
              known.handshakes.length > 0 && ['Handshakes that are answered', known.handshakes.join(', ')],
              source.lastHandshake?.shown != null && ['To finish at the provider', plain(source.lastHandshake.shown)],
            ]}
          />
        </>
      )}
    </section>
  );
}

/** How a provider is connected, in the words of the API. */
export function Instructions({ of }: { of: Provider }) {
  return (
    <Text size="sm" className="anywhere">
      {of.instructions}{' '}
      <a href={of.docs} target="_blank" rel="noreferrer">
        {of.title} about its webhooks
      </a>
    </Text>
  );
}

const placeText = (place: ProviderPlace | null): string =>
  place === null ? 'not told' : place.header ? `header ${place.header}` : `payload, ${plain(place.payload ?? '')}`;

function dedupText(dedup: Provider['dedup']): string {
  if (dedup === null) return 'nothing of its own';
  if (dedup.signature) return 'its signature';
  return dedup.header ? `header ${dedup.header}` : `payload, ${dedup.jsonPath}`;
}
