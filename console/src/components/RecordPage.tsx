// The page of one record, which the address names: name, status, actions, tabs, and a rail of facts.
import { Tabs } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import type { Route } from '@hookyard/client';
import type { ReactNode } from 'react';
import type { Input, Name, Output } from '../api/client.ts';
import type { ApiCall } from '../api/curl.ts';
import { AGAIN_MS, useAsk, crumbOf, type PageKind } from '../api/queries.ts';
import { plain, sentence } from '../format.ts';
import { usePageSearch } from '../search.ts';
import { Time } from '../zone.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import { Loaded } from './Failed.tsx';
import { Page } from './Page.tsx';
import { Callout, Card, Facts, type FactValues, Id, Status } from './ui.tsx';

/** Operations that get a record by its id. */
type Gets = {
  [N in Name]: { id: string } extends Input<N> ? (Output<N> extends { id: string } ? N : never) : never;
}[Name];

interface Props<N extends Gets> {
  get: N;
  /** What it is asked besides the id. */
  input?: Partial<Input<N>>;
  /** The time between two requests, ms. */
  every?: number;
  /** Whether the call of the API can be copied; not where the page copies another one. */
  hasCall?: boolean;
  /** What the record is, in words: its title until the record is there, and where it has no name. */
  what: PageKind;
  titleOf?: (record: Output<N>) => string;
  status?: (record: Output<N>) => string;
  /** What it means that it is disabled. */
  disabled?: string;
  /** What the API warns of. */
  warning?: string;
  /** By default its description. */
  note?: (record: Output<N>) => ReactNode;
  actions?: (record: Output<N>) => ReactNode;
  /** In the rail. */
  facts?: (record: Output<N>) => FactValues;
  /** Above the tabs. @param again asks again at once */
  children?: (record: Output<N>, again: () => void) => ReactNode;
  /** By their titles; the first is shown at first. */
  tabs?: (record: Output<N>, again: () => void) => Record<string, ReactNode>;
}

/** What many records have. */
interface Common extends Partial<Pick<Route, 'pausedSince' | 'pausedUntil' | 'pauseReason'>> {
  name?: string;
  description?: string | null;
  enabled?: boolean;
  paused?: boolean;
  warnings?: string[];
}

export function RecordPage<N extends Gets>({ get, what, titleOf, hasCall = true, ...props }: Props<N>) {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const input = { id, ...props.input } as Input<N>;
  const answer = useAsk(get, input, { every: props.every ?? AGAIN_MS });
  const record = answer.data;
  const { name, description, ...common } = (record ?? {}) as Common;
  const again = () => void answer.refetch();
  return (
    <Page
      title={(record && titleOf?.(record)) ?? (name === undefined ? sentence(what) : plain(name))}
      crumb={crumbOf(what)}
      status={record && props.status && <Status of={props.status(record)} />}
      note={record && (props.note ? props.note(record) : description && plain(description))}
      actions={
        <>
          {hasCall && <ExportMenu call={{ name: get, input } as ApiCall} />}
          {record && props.actions?.(record)}
        </>
      }
    >
      <Loaded answer={answer}>
        {(one) => {
          const facts = props.facts?.(one);
          const tabs = props.tabs?.(one, again);
          const main = (
            <div className="stack">
              {props.disabled && common.enabled === false && (
                <Callout tone="warn" title={`${sentence(what)} disabled`}>
                  {props.disabled}
                </Callout>
              )}
              {common.warnings?.map((text) => (
                <Callout key={text} tone="warn" title={props.warning}>
                  {plain(text)}
                </Callout>
              ))}
              {common.paused && <Paused what={what} {...common} />}
              {props.children?.(one, again)}
              {tabs && <RecordTabs of={tabs} />}
            </div>
          );
          if (!facts) return main;
          return (
            <div className="with-rail">
              {main}
              <aside aria-label="Details">
                <Card>
                  <Facts of={{ ...facts, ID: <Id of={id} isLink={false} /> }} />
                </Card>
              </aside>
            </div>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Paused({ what, pausedSince, pausedUntil, pauseReason }: Common & { what: PageKind }) {
  return (
    <Callout tone="warn" title={`${sentence(what)} paused`}>
      {pauseReason && <bdi>{plain(pauseReason)}. </bdi>}
      Paused <Time at={pausedSince} />
      {pausedUntil && (
        <>
          , resumes <Time at={pausedUntil} exact />
        </>
      )}
      . Deliveries are held.
    </Callout>
  );
}

/** The open tab is in the address. */
function RecordTabs({ of }: { of: Record<string, ReactNode> }) {
  const [{ tab }, set] = usePageSearch();
  const names = Object.keys(of).filter((name) => of[name]);
  const keyOf = (name: string) => name.toLowerCase().replaceAll(' ', '-');
  const shown = names.find((name) => keyOf(name) === tab) ?? names[0] ?? '';
  return (
    <Tabs
      value={keyOf(shown)}
      onChange={(next) =>
        set({ tab: next === keyOf(names[0] ?? '') ? undefined : (next ?? undefined) }, { replace: true })
      }
      keepMounted={false}
    >
      <Tabs.List mb="md">
        {names.map((name) => (
          <Tabs.Tab key={name} value={keyOf(name)}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={keyOf(shown)}>
        <div className="stack">{of[shown]}</div>
      </Tabs.Panel>
    </Tabs>
  );
}
