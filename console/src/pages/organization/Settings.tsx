// What one is signed in with, how the console looks, and who has agreed to get mails.
import { Button, Group, SegmentedControl, Text, useMantineColorScheme } from '@mantine/core';
import type { NotificationRecipient } from 'hookyard/client';
import { useCaller, useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import { session } from '../../api/session.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { Facts } from '../../components/Facts.tsx';
import { Page } from '../../components/Page.tsx';
import { localZoneName, plain, type Zone } from '../../format.ts';
import { pageOf, usePageSearch } from '../../search.ts';
import { Time, useZone } from '../../zone.tsx';

export function Settings() {
  const { organization, key } = useCaller();
  const { zone, setZone } = useZone();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const mayRoutes = useMay('routes:read');
  return (
    <Page title="Settings" actions={<CopyMenu call={{ name: 'getCaller', input: {} }} />}>
      <h2>Organization and key</h2>
      <Facts
        of={[
          ['Organization', <bdi key="name">{plain(organization.name)}</bdi>],
          ['Id', organization.id],
          ['Slug', organization.slug],
          ['Plan', organization.plan],
          ['Signed in with', <bdi key="key">{plain(key.name)}</bdi>],
          ['It may', key.scopes.join(', ')],
          ['From', key.allowedAddresses?.join(', ') ?? 'every address'],
          ['Valid until', key.expiresAt === null ? 'it is revoked' : <Time key="until" at={key.expiresAt} />],
        ]}
      />
      <Button size="xs" variant="default" onClick={() => session.end('signed-out')}>
        Sign out of this tab
      </Button>
      <h2>How it looks</h2>
      <Group align="end">
        <SegmentedControl
          size="xs"
          aria-label="Theme"
          value={colorScheme}
          onChange={(scheme) => setColorScheme(scheme as typeof colorScheme)}
          data={[
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
            { value: 'auto', label: 'As the system' },
          ]}
          transitionDuration={0}
        />
        <SegmentedControl
          size="xs"
          aria-label="Times are shown in"
          value={zone}
          onChange={(next) => setZone(next as Zone)}
          data={[
            { value: 'utc', label: 'UTC' },
            { value: 'local', label: localZoneName },
          ]}
          transitionDuration={0}
        />
      </Group>
      {mayRoutes && <Recipients />}
    </Page>
  );
}

const columns: Column<NotificationRecipient>[] = [
  { title: 'Address', cell: ({ address }) => <bdi>{plain(address)}</bdi>, csv: ({ address }) => address },
  {
    title: 'Agreed',
    cell: ({ confirmedAt, refused }) =>
      refused ? 'wants none' : confirmedAt === null ? 'not yet' : <Time at={confirmedAt} />,
    csv: ({ confirmedAt, refused }) => (refused ? 'wants none' : confirmedAt),
  },
  { title: 'Asked last', cell: ({ askedAt }) => <Time at={askedAt} />, csv: ({ askedAt }) => askedAt },
];

function Recipients() {
  const [search, set] = usePageSearch();
  const mayWrite = useMay('routes:write');
  const input = { page: pageOf(search), pageSize: 20 };
  const answer = useAsk('listNotificationRecipients', input, { keep: true });
  const all: Column<NotificationRecipient>[] = mayWrite
    ? [
        ...columns,
        { title: 'Ask', cell: (one) => (one.confirmedAt === null && !one.refused ? <AskAgain of={one} /> : '-') },
      ]
    : columns;
  return (
    <section aria-label="Who gets mails">
      <div className="head">
        <h2>Who gets mails</h2>
        <CopyMenu
          call={{ name: 'listNotificationRecipients', input }}
          columns={columns}
          rows={answer.data?.data ?? []}
        />
      </div>
      <Text size="sm">
        The addresses of routes and alert channels. Where the operator demands it, an address gets mails only after its
        owner has agreed.
      </Text>
      <DataTable
        title="Recipients"
        columns={all}
        idOf={({ address }) => address}
        answer={answer}
        onPage={(page) => set({ page: String(page) })}
        empty="No route and no alert channel names an address."
      />
    </section>
  );
}

function AskAgain({ of: { address } }: { of: NotificationRecipient }) {
  return (
    <ConfirmedAction
      label="Ask again"
      title={`Ask ${plain(address)} again`}
      verb="Ask again"
      run={async () => {
        await call('resendConfirmation', { body: { address } });
        return 'The owner is asked again';
      }}
    >
      A mail asks its owner whether notifications may be sent there. It is sent an hour after the last one at the
      earliest.
    </ConfirmedAction>
  );
}
