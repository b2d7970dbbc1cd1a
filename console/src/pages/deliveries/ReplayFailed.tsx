// Failed deliveries to a destination that have not been replayed: how many, and a replay of all of them.
import { Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useSome } from '../../api/lists.ts';
import { Callout, PageLink } from '../../components/ui.tsx';
import { plural } from '../../format.ts';
import { rangeOf } from '../../search.ts';

const Bulk = lazy(async () => ({ default: (await import('./Bulk.tsx')).Bulk }));

/** Of the last 24 hours, as the health of a destination. */
export const notReplayed = (destinationId?: string) => ({
  ...(destinationId !== undefined && { destinationId }),
  status: 'failed' as const,
  replayed: false,
  ...rangeOf({ range: '24h' }, '24h'),
});

/** `2 failed deliveries`, as a link to them. */
export const FailedLink = ({ destinationId, text }: { destinationId: string; text: string }) => (
  <PageLink to="/deliveries" search={{ destinationId, status: 'failed', replayed: 'false', range: '24h' }}>
    {text}
  </PageLink>
);

/** Stays open when nothing is left to replay: it shows how the replays end. */
export const ReplayFailed = ({ destinationId, onClose }: { destinationId: string; onClose: () => void }) => (
  <Suspense fallback={null}>
    <Bulk action="replay" ids={null} filter={notReplayed(destinationId)} onClose={onClose} />
  </Suspense>
);

export function NotReplayed({ destinationId }: { destinationId: string }) {
  const [isOpen, setOpen] = useState(false);
  const mayReplay = useMay('deliveries:write');
  const failed = useSome('listDeliveries', notReplayed(destinationId), { scope: 'deliveries:read', keep: true });
  const text = failed && plural(failed.total, 'failed delivery', failed.text);
  return (
    <>
      {text && (
        <Callout tone="warn" title={`${text} not replayed`}>
          <div className="hold">
            <span className="grow">
              Created in the last 24 hours. Failed deliveries are not sent again automatically.{' '}
              <FailedLink destinationId={destinationId} text="View deliveries" />
            </span>
            {mayReplay && (
              <Button variant="default" onClick={() => setOpen(true)}>
                Replay {text}
              </Button>
            )}
          </div>
        </Callout>
      )}
      {isOpen && <ReplayFailed destinationId={destinationId} onClose={() => setOpen(false)} />}
    </>
  );
}
