// API keys: who has one, what it may do, when it was used; a new one, whose token is shown once; and the end of one.
import { Alert, Code, Group } from '@mantine/core';
import type { ApiKey } from 'hookyard/client';
import { useCaller, useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import type { Column } from '../../components/DataTable.tsx';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { plain } from '../../format.ts';
import { Time } from '../../zone.tsx';

const AGAIN_MS = 10_000;

export function Keys() {
  const { key: own } = useCaller();
  const mayWrite = useMay('keys:write');
  const columns: Column<ApiKey>[] = [
    {
      title: 'Name',
      cell: (key) => (
        <>
          <bdi>{plain(key.name)}</bdi>
          {key.id === own.id && ' (this one)'}
        </>
      ),
      csv: (key) => key.name,
    },
    { title: 'May', cell: (key) => key.scopes.join(', '), csv: (key) => key.scopes.join(' ') },
    { title: 'Ends in', cell: (key) => <Code>…{key.tokenHint}</Code>, csv: (key) => key.tokenHint, wideOnly: true },
    {
      title: 'From',
      cell: (key) => key.allowedAddresses?.join(', ') ?? 'every address',
      csv: (key) => key.allowedAddresses?.join(' '),
      wideOnly: true,
    },
    { title: 'Last used', cell: (key) => <Time at={key.lastUsedAt} />, csv: (key) => key.lastUsedAt },
    {
      title: 'Valid until',
      cell: (key) => (key.expiresAt === null ? 'it is revoked' : <Time at={key.expiresAt} />),
      csv: (key) => key.expiresAt,
      wideOnly: true,
    },
    { title: 'Id', cell: (key) => key.id, csv: (key) => key.id, wideOnly: true },
    ...(mayWrite ? [{ title: 'End', cell: (key: ApiKey) => <Revoke of={key} isOwn={key.id === own.id} /> }] : []),
  ];
  return (
    <ListPage
      title="API keys"
      list="listApiKeys"
      columns={columns}
      every={AGAIN_MS}
      make={{ label: 'New key', to: '/api-keys/new', scope: 'keys:write' }}
      empty="There is none."
    />
  );
}

function Revoke({ of: key, isOwn }: { of: ApiKey; isOwn: boolean }) {
  return (
    <ConfirmedAction
      label="Revoke"
      title={`Revoke ${plain(key.name)}`}
      verb="Revoke it"
      isDestructive
      run={async () => {
        await call('revokeApiKey', { id: key.id });
        return 'The key is revoked';
      }}
    >
      <Group mb="xs">
        It stops working at once, everywhere. It was used last: <Time at={key.lastUsedAt} />. This cannot be undone.
      </Group>
      {isOwn && (
        <Alert color="red" title="You are signed in with this key">
          The console ends with it.
        </Alert>
      )}
    </ConfirmedAction>
  );
}
