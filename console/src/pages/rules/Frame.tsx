// The page of a filter, a transform or a schema: its form beside a real event and what becomes of it.
import { Group, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { Count } from '../../components/Count.tsx';
import { Deed } from '../../components/Deed.tsx';
import { countText } from '../../format.ts';
import type { Sample } from '../../samples/Sample.tsx';

export const useRuleId = (): string | undefined => {
  const { id } = useParams({ strict: false }) as { id?: string };
  return id;
};

/** After a correction: the event that was tried, delivered again by the routes as they are now. */
export function ReplayTried({ sample, isDirty }: { sample: Sample; isDirty: boolean }) {
  const mayReplay = useMay('events:write');
  const { eventId } = sample;
  if (!eventId || !mayReplay) return null;
  return (
    <Group gap="xs">
      <Deed
        label="Replay this event"
        verb="Replay it"
        isReady={!isDirty}
        run={async () => {
          const { deliveriesCreated } = await call('replayEvent', { id: eventId });
          return `${countText(deliveriesCreated)} ${deliveriesCreated === 1 ? 'delivery was' : 'deliveries were'} made`;
        }}
      >
        {isDirty ? (
          <Text>Save first: the event is delivered with what is stored.</Text>
        ) : (
          <Text>
            It is delivered to where the routes of its source lead now, as it was received. It has{' '}
            <Count list="listDeliveries" input={{ eventId }} one="delivery" many="deliveries" /> already.
          </Text>
        )}
      </Deed>
    </Group>
  );
}

export function Beside({ form, trial }: { form: ReactNode; trial: ReactNode }) {
  return (
    <div className="side">
      <section aria-label="Definition">{form}</section>
      <section aria-label="Try it">{trial}</section>
    </div>
  );
}
