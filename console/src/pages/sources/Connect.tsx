// How a sender is connected: the ingest URL, and what its provider needs.
import { Button, Code } from '@mantine/core';
import type { Provider, Source } from '@hookyard/client';
import { useAll } from '../../api/lists.ts';
import { isPrivate } from '../../api/client.ts';
import { shellQuoted } from '../../api/curl.ts';
import { Failed } from '../../components/Failed.tsx';
import { Callout, Card, copy, Facts } from '../../components/ui.tsx';
import { plain } from '../../format.ts';

export function Connect({ source }: { source: Source }) {
  const { webhookUrl: url, provider, verificationConfig } = source;
  const { data, error, refetch } = useAll('listProviders', provider !== null);
  const known = data?.records.find(({ name }) => name === provider);
  const isOpen = provider === null && verificationConfig.type === 'none';
  const curl = `curl -H 'Content-Type: application/json' -d '{"type":"order.paid"}' ${shellQuoted(url)}`;
  return (
    <Card title="Ingest URL">
      <div className="stack">
        <div className="row">
          <Code className="anywhere" aria-label="Ingest URL">
            {url}
          </Code>
          <Button variant="default" onClick={() => void copy(url, 'Ingest URL')}>
            Copy URL
          </Button>
          {isOpen && (
            <Button variant="default" onClick={() => void copy(curl, 'Command')}>
              Copy curl command
            </Button>
          )}
        </div>
        {isPrivate(url) && (
          <Callout tone="warn" title="Not reachable from the internet">
            Senders on other machines may not be able to reach this URL. For a public URL, such as a tunnel URL, the
            operator must set <code>HOOKYARD_PUBLIC_URL</code>.
          </Callout>
        )}
        {url.includes('•') && (
          <p className="small quiet">Viewing the full URL requires the sources:write or secrets:read scope.</p>
        )}
        {isOpen && source.ingestToken !== 'required' && (
          <p className="small quiet">Not verified. Anyone who knows the URL can send webhooks.</p>
        )}
        {error && <Failed error={error} again={() => void refetch()} />}
        {known && (
          <>
            <Instructions of={known} />
            <Facts
              isWide
              of={{
                'Suggested idempotency key': source.idempotencyKey === null && dedupText(known.dedup),
                Handshakes: known.handshakes.length > 0 && known.handshakes.join(', '),
                'Complete setup with': source.lastHandshake?.shown != null && plain(source.lastHandshake.shown),
              }}
            />
          </>
        )}
      </div>
    </Card>
  );
}

/** How a provider is connected, in the words of the API. */
export function Instructions({ of }: { of: Provider }) {
  return (
    <p className="anywhere">
      <strong>In {of.title}:</strong> {of.instructions}{' '}
      <a href={of.docs} target="_blank" rel="noreferrer">
        {of.title} webhook documentation
      </a>
    </p>
  );
}

function dedupText(dedup: Provider['dedup']): string {
  if (dedup === null) return 'none';
  if (dedup.signature) return 'signature';
  return dedup.header ? `header ${dedup.header}` : `payload.${dedup.jsonPath?.replace(/^\$\./, '')}`;
}
