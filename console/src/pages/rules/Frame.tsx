// The page of a filter, a transform or a schema: its form beside a real event and what becomes of it, tried as it is
// typed.
import type { UseFormReturnType } from '@mantine/form';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { Filter, Schema, Transform } from '@hookyard/client';
import type { ReactNode } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useAll } from '../../api/lists.ts';
import { crumbOf, operationOf, pathOf } from '../../api/queries.ts';
import { ActionMenu, ConfirmDelete, ConfirmedAction, createdText, replayEvent } from '../../components/actions.tsx';
import { Count } from '../../components/Count.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Card, Name } from '../../components/ui.tsx';
import { Editor, type Language, type Mark } from '../../editor/Editor.tsx';
import { startOf, type ValuesOf, valuesOf } from '../../forms/members.ts';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { type Entry, Fields, NAME_FIELDS } from '../../forms/fields.tsx';
import { Problem } from '../../forms/Conditions.tsx';
import { useMembersForm } from '../../forms/recordPages.tsx';
import { plural } from '../../format.ts';
import { type Sample, SampleField, useSample } from '../../samples/Sample.tsx';

interface Records {
  filter: Filter;
  transform: Transform;
  schema: Schema;
}

interface Tried {
  /** After name and description. */
  entries: Entry[];
  /** In the sample. */
  marks?: readonly Mark[] | undefined;
  /** Why it could not be tried, where no line of the definition says so. */
  failed?: { error: unknown; refetch: () => unknown } | false;
  outcome: ReactNode;
}

interface Kind<K extends keyof Records, M> {
  what: K;
  members: M;
  /** Tries what the form has on the sample; may use hooks. */
  useTrial: (form: UseFormReturnType<ValuesOf<M>>, sample: Sample, mayWrite: boolean) => Tried;
}

/** The page of a new one, and of one that is stored, with the routes that use it. */
export function rulePage<K extends keyof Records, M extends object>(kind: Kind<K, M>) {
  const { what, members } = kind;
  const path = pathOf(what);

  function Form({ stored }: { stored?: Records[K] }) {
    const navigate = useNavigate();
    const scope = `${what}s:write` as const;
    const mayWrite = useMay(scope);
    const sample = useSample();
    const record = useMembersForm<M, Records[K]>(kind, {
      ...{ stored, start: stored ? valuesOf(members, stored) : startOf(members) },
      onSaved: ({ id }) => {
        if (!stored) void navigate({ to: `${path}/${id}`, search: (before: object) => before as never });
      },
    });
    const { entries, marks, failed, outcome } = kind.useTrial(record.form, sample, mayWrite);
    return (
      <div className="grid-2">
        <Card title="Definition">
          <FormFrame of={record} verb={stored ? 'Save' : `Create ${what}`} isWide mayWrite={mayWrite}>
            <Fields form={record.form} of={[...NAME_FIELDS, ...entries]} />
          </FormFrame>
        </Card>
        <Card title="Test" actions={<ReplayTried sample={sample} isDirty={record.isDirty} />}>
          <div className="stack">
            <SampleField sample={sample} marks={marks} />
            {!mayWrite && <p className="small quiet">Testing requires the {scope} scope.</p>}
            {failed && failed.error !== null && <Failed error={failed.error} again={() => void failed.refetch()} />}
            {outcome}
          </div>
        </Card>
      </div>
    );
  }

  return function RulePage() {
    const { id } = useParams({ strict: false }) as { id?: string };
    const mayWrite = useMay(`${what}s:write`);
    if (id === undefined)
      return (
        <Page title={`New ${what}`} crumb={crumbOf(what)}>
          <Form />
        </Page>
      );
    return (
      <RecordPage
        get={operationOf('get', what) as 'getFilter'}
        what={what}
        note={(one) => (
          <>
            {'version' in one && `Version ${one.version} · `}
            <UsedBy member={`${what}Id`} id={id} count={one.routeCount} />
          </>
        )}
        actions={(one) =>
          mayWrite && (
            <ActionMenu
              of={{
                Delete: (
                  <ConfirmDelete kind={what} of={one} isReady={one.routeCount === 0}>
                    <p>
                      {one.routeCount === 0
                        ? 'Not used by any route. This cannot be undone.'
                        : `Used by ${plural(one.routeCount, 'route')}. Remove the ${what} from all routes first.`}
                    </p>
                  </ConfirmDelete>
                ),
              }}
            />
          )
        }
      >
        {(one) => <Form key={one.id} stored={one as unknown as Records[K]} />}
      </RecordPage>
    );
  };
}

interface EditorOptions {
  label: string;
  language: Language;
  marks: readonly Mark[];
  isFixed: boolean;
}

/** A member that is code: what is wrong with it stands at its lines, or else below it. */
export function editorOf<Values>(
  form: UseFormReturnType<Values>,
  path: string,
  { isFixed, ...editor }: EditorOptions,
): Entry {
  const { value, onChange, error } = form.getInputProps(path);
  return {
    node: (
      <>
        <Editor {...editor} value={value as string} readOnly={isFixed} onChange={onChange} />
        {editor.marks.length === 0 && error && <Problem>{error}</Problem>}
      </>
    ),
  };
}

/** The routes that use a rule. */
function UsedBy({ member, id, count }: { member: `${keyof Records}Id`; id: string; count: number }) {
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

/** After a correction: the event that was tried, delivered again by the routes as they are now. */
function ReplayTried({ sample: { eventId }, isDirty }: { sample: Sample; isDirty: boolean }) {
  const mayReplay = useMay('events:write');
  if (!eventId || !mayReplay) return null;
  return (
    <ConfirmedAction label="Replay event" isReady={!isDirty} run={() => replayEvent(eventId)} said={createdText}>
      {isDirty ? (
        <p>Save your changes first. A replay uses the saved transforms and schemas, and ignores filters.</p>
      ) : (
        <p>
          The event is sent to all destinations of its source's enabled routes. Route filters do not apply. The event
          already has <Count list="listDeliveries" input={{ eventId }} one="delivery" />.
        </p>
      )}
    </ConfirmedAction>
  );
}
