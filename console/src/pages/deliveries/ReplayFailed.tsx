// Failed deliveries to a destination that have not been replayed: how many, and a replay of all of them.
import { Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { Callout, PageLink } from '../../components/ui.tsx';
import { plural, totalText } from '../../format.ts';
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
  const maySee = useMay('deliveries:read');
  const mayReplay = useMay('deliveries:write');
  const input = { ...notReplayed(destinationId), pageSize: 1 };
  const { data } = useAsk('listDeliveries', input, { enabled: maySee, every: AGAIN_MS, keep: true });
  const total = data?.pagination.total ?? 0;
  const text = data ? plural(total, 'failed delivery', totalText(data.pagination)) : '';
  return (
    <>
      {total > 0 && (
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
