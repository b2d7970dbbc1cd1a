// What one is signed in with, who has agreed to get notifications, and the state of the installation for its operator.
import { Button, PasswordInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { NotificationRecipient } from '@hookyard/client';
import { type FormEvent, useSyncExternalStore } from 'react';
import { useCaller, useMay } from '../../api/caller.tsx';
import { call, clientWith } from '../../api/client.ts';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { session } from '../../api/session.ts';
import { ConfirmedAction } from '../../components/actions.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ExportMenu } from '../../components/ExportMenu.tsx';
import { Loaded } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { Card, Empty, Facts, Id, PageLink, Status } from '../../components/ui.tsx';
import { countText, durationText, plain, sentence } from '../../format.ts';
import { pageOf, usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';

export function Settings() {
  const caller = useCaller();
  const { organization, key } = caller;
  const isAdministrator = useMay('keys:write');
  const mayRoutes = useMay('routes:read');
  return (
    <Page title="Settings" actions={<ExportMenu call={{ name: 'getCaller', input: {} }} />}>
      <div className="grid-2">
        <Card title="Organization">
          <Facts
            isWide
            of={{
              Name: <bdi>{plain(organization.name)}</bdi>,
              Slug: organization.slug,
              Plan: sentence(organization.plan),
              ID: <Id of={organization.id} />,
            }}
          />
        </Card>
        <Card
          title="Your API key"
          actions={
            <Button variant="default" onClick={() => session.signOut(caller)}>
              Sign out
            </Button>
          }
        >
          <div className="stack">
            <Facts
              isWide
              of={{
                Name: <bdi>{plain(key.name)}</bdi>,
                Scopes: key.scopes.join(', '),
                'Allowed addresses': key.allowedAddresses?.join(', ') ?? 'Any',
                Expires: key.expiresAt === null ? 'Never' : <Time at={key.expiresAt} exact />,
              }}
            />
            {isAdministrator && (
              <p className="quiet">
                To give a colleague access,{' '}
                <PageLink to="/api-keys/new" search={{}}>
                  create an API key
                </PageLink>{' '}
                for them.
              </p>
            )}
          </div>
        </Card>
      </div>
      {mayRoutes && <Recipients />}
      {isAdministrator && <Installation />}
    </Page>
  );
}

const columns: Column<NotificationRecipient>[] = [
  { title: 'Address', value: ({ address }) => address },
  {
    title: 'Confirmed',
    value: ({ confirmedAt, refused }) => (refused ? 'Unsubscribed' : confirmedAt),
    cell: ({ confirmedAt, refused }) =>
      refused ? 'Unsubscribed' : confirmedAt === null ? 'Not yet' : <Time at={confirmedAt} />,
  },
  { title: 'Last confirmation email', value: ({ askedAt }) => askedAt, as: 'time' },
];

function Recipients() {
  const [search, set] = usePageSearch();
  const mayWrite = useMay('routes:write');
  const input = { page: pageOf(search), pageSize: 20 };
  const answer = useAsk('listNotificationRecipients', input, { keep: true });
  const all: Column<NotificationRecipient>[] = [
    ...columns,
    { title: 'Actions', cell: (one) => one.confirmedAt === null && !one.refused && <AskAgain of={one} /> },
  ];
  return (
    <Card
      title="Notification recipients"
      actions={
        <ExportMenu
          call={{ name: 'listNotificationRecipients', input }}
          columns={columns}
          rows={answer.data?.data ?? []}
        />
      }
    >
      <div className="stack">
        <p className="quiet">
          If the operator requires confirmation, an address receives no email until its owner confirms it.
        </p>
        <DataTable
          title="Recipients"
          columns={mayWrite ? all : columns}
          idOf={({ address }) => address}
          answer={answer}
          onPage={(page) => set({ page: String(page) })}
          empty={<Empty title="No recipients">Email addresses used by routes and alert channels appear here.</Empty>}
        />
      </div>
    </Card>
  );
}

const AskAgain = ({ of: { address } }: { of: NotificationRecipient }) => (
  <ConfirmedAction
    label="Resend confirmation"
    title={`Resend confirmation to ${plain(address)}`}
    verb="Resend confirmation"
    run={() => call('resendConfirmation', { body: { address } })}
    said="Confirmation email queued"
  >
    <p>
      The email asks the owner to allow notifications. It is sent only if the operator requires confirmation. You can
      resend it an hour after the first email; the wait doubles each time, up to a week.
    </p>
  </ConfirmedAction>
);

/** For who has the operator's key. */
function Installation() {
  const { operatorKey } = useSyncExternalStore(session.subscribe, session.get);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key')).trim();
    if (key !== '') session.setOperatorKey(key);
  };
  return (
    <Card
      title="Installation"
      actions={
        operatorKey !== null && (
          <Button variant="default" onClick={() => session.setOperatorKey(null)}>
            Remove key
          </Button>
        )
      }
    >
      {operatorKey === null ? (
        <form onSubmit={submit} className="rule-row form">
          <PasswordInput
            label="Operator key (HOOKYARD_OPERATOR_KEY)"
            description="Only the operator has this key. It is not an API key."
            name="key"
            autoComplete="off"
          />
          <Button type="submit" variant="default">
            Show status
          </Button>
        </form>
      ) : (
        <InstallationStatus operatorKey={operatorKey} />
      )}
    </Card>
  );
}

function InstallationStatus({ operatorKey }: { operatorKey: string }) {
  const status = useQuery({
    queryKey: ['getStatus', {}],
    queryFn: () => clientWith(operatorKey).getStatus(),
    refetchInterval: AGAIN_MS,
  });
  return (
    <Loaded answer={status}>
      {({ backlog, ingest, temporal, workers, circuits }) => (
        <Facts
          isWide
          of={{
            Ingest: <Status of={ingest} />,
            Temporal: <Status of={temporal} />,
            Workers: workers && countText(workers.length),
            'Open circuit breakers': circuits && countText(circuits.open),
            'Deliveries waiting for a worker': backlog && countText(backlog.due),
            'Age of the oldest delivery waiting for a worker':
              backlog?.oldestDueSeconds != null && durationText(backlog.oldestDueSeconds * 1000),
          }}
        />
      )}
    </Loaded>
  );
}
