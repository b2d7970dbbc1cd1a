// The page of a filter, a transform or a schema: its form beside a real event and what becomes of it.
import { useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAll } from '../../api/all.ts';
import { useMay } from '../../api/caller.tsx';
import { call, type Output } from '../../api/client.ts';
import { Confirm, ConfirmedAction, ActionMenu } from '../../components/actions.tsx';
import { Count } from '../../components/Count.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Card, Name } from '../../components/ui.tsx';
import { plain, plural, sentence } from '../../format.ts';
import { type Sample, SampleField } from '../../samples/Sample.tsx';
import type { Mark } from '../../editor/Editor.tsx';

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
  const title = sentence(what);
  const crumb = { to: `/${what}s`, label: `${title}s` };
  if (id === undefined)
    return (
      <Page title={`New ${what}`} crumb={crumb}>
        {form(undefined)}
      </Page>
    );
  return (
    <RecordPage
      get={get}
      crumb={crumb}
      title={title}
      titleOf={({ name }) => plain(name)}
      note={(one) => (
        <>
          {'version' in one && `Version ${one.version} · `}
          <UsedBy member={`${what}Id`} id={id} count={one.routeCount} />
        </>
      )}
      actions={({ routeCount }) =>
        mayWrite && <DeleteRule what={what} count={routeCount} run={() => call(remove, { id })} to={`/${what}s`} />
      }
    >
      {form}
    </RecordPage>
  );
}

type Member = 'filterId' | 'transformId' | 'schemaId';

/** The routes that use a rule. */
function UsedBy({ member, id, count }: { member: Member; id: string; count: number }) {
  const mayRead = useMay('routes:read');
  const { data, error } = useAll('listRoutes', mayRead && count > 0);
  const routes = data?.records.filter((route) => route[member] === id) ?? [];
  if (count === 0) return 'Not used by any route';
  return (
    <span className="prose">
      Used by {plural(count, 'route')}
      {error && <Failed error={error} />}
      {routes.map((route, index) => (
        <span key={route.id}>
          {index === 0 ? ': ' : ', '}
          <Name id={route.id} name={route.name} />
        </span>
      ))}
    </span>
  );
}

interface DeleteProps {
  what: string;
  count: number;
  run: () => Promise<unknown>;
  to: string;
}

function DeleteRule({ what, count, run, to }: DeleteProps) {
  const navigate = useNavigate();
  const remove = async () => {
    await run();
    return `${sentence(what)} deleted`;
  };
  return (
    <ActionMenu
      of={{
        Delete: (close) => (
          <Confirm
            title={`Delete ${what}`}
            verb={`Delete ${what}`}
            isDestructive
            isReady={count === 0}
            run={remove}
            onDone={() => navigate({ to })}
            onClose={close}
          >
            <p>
              {count === 0
                ? 'Not used by any route. This cannot be undone.'
                : `Used by ${plural(count, 'route')}. Remove the ${what} from all routes first.`}
            </p>
          </Confirm>
        ),
      }}
    />
  );
}

interface BesideProps {
  form: ReactNode;
  sample: Sample;
  marks?: readonly Mark[];
  /** Without it nothing is tried. */
  scope: string;
  mayWrite: boolean;
  isDirty: boolean;
  result: ReactNode;
}

/** The form, and beside it the event that it is tried on, with the result. */
export function Beside({ form, sample, marks, scope, mayWrite, isDirty, result }: BesideProps) {
  return (
    <div className="grid-2">
      <Card title="Definition">{form}</Card>
      <Card title="Test" actions={<ReplayTried sample={sample} isDirty={isDirty} />}>
        <div className="stack">
          <SampleField sample={sample} {...(marks && { marks })} />
          {!mayWrite && <p className="small quiet">Your API key needs the scope {scope} to test.</p>}
          {result}
        </div>
      </Card>
    </div>
  );
}

/** After a correction: the event that was tried, delivered again by the routes as they are now. */
function ReplayTried({ sample, isDirty }: { sample: Sample; isDirty: boolean }) {
  const mayReplay = useMay('events:write');
  const { eventId } = sample;
  if (!eventId || !mayReplay) return null;
  const replay = async () => {
    const { deliveriesCreated } = await call('replayEvent', { id: eventId });
    return `${plural(deliveriesCreated, 'delivery')} created`;
  };
  return (
    <ConfirmedAction label="Replay event" verb="Replay event" isReady={!isDirty} run={replay}>
      {isDirty ? (
        <p>Save your changes first: the event is delivered with the stored version.</p>
      ) : (
        <p>
          The event is sent to all destinations of its routes. The event already has{' '}
          <Count list="listDeliveries" input={{ eventId }} one="delivery" />.
        </p>
      )}
    </ConfirmedAction>
  );
}
