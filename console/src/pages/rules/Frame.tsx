// The page of a filter, a transform or a schema: its form beside a real event and what becomes of it.
import { Group, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call, type Output } from '../../api/client.ts';
import { Count } from '../../components/Count.tsx';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { Page } from '../../components/Page.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { countText, plain } from '../../format.ts';
import type { Sample } from '../../samples/Sample.tsx';
import { DeleteRule, Users } from './Users.tsx';

interface RulePageProps<N extends 'getFilter' | 'getTransform' | 'getSchema'> {
  what: 'filter' | 'transform' | 'schema';
  get: N;
  remove: 'deleteFilter' | 'deleteTransform' | 'deleteSchema';
  /** Of one that is stored, or of a new one. */
  form: (record: Output<N> | undefined) => ReactNode;
}

/** The page of a new one, or of one that is stored, with the routes that use it. */
export function RulePage<N extends 'getFilter' | 'getTransform' | 'getSchema'>(props: RulePageProps<N>) {
  const { what, get, remove, form } = props;
  const { id } = useParams({ strict: false }) as { id?: string };
  const mayWrite = useMay(`${what}s:write`);
  if (id === undefined) return <Page title={`New ${what}`}>{form(undefined)}</Page>;
  const title = `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
  return (
    <RecordPage
      get={get}
      title={title}
      titleOf={({ name }) => `${title} ${plain(name)}`}
      noteOf={(one) => ('version' in one ? `, version ${one.version}` : '')}
      actions={({ routeCount }) =>
        mayWrite && <DeleteRule what={what} count={routeCount} run={() => call(remove, { id })} to={`/${what}s`} />
      }
    >
      {(one) => (
        <>
          <Users member={`${what}Id`} id={id} count={one.routeCount} />
          {form(one)}
        </>
      )}
    </RecordPage>
  );
}

/** After a correction: the event that was tried, delivered again by the routes as they are now. */
export function ReplayTried({ sample, isDirty }: { sample: Sample; isDirty: boolean }) {
  const mayReplay = useMay('events:write');
  const { eventId } = sample;
  if (!eventId || !mayReplay) return null;
  return (
    <Group gap="xs">
      <ConfirmedAction
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
      </ConfirmedAction>
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
