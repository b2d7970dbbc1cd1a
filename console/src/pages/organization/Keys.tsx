// API keys: who has one, what it may do, when it was used, and its end.
import { Code } from '@mantine/core';
import type { ApiKey } from '@hookyard/client';
import { useCaller, useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { ConfirmedAction } from '../../components/actions.tsx';
import type { Column } from '../../components/DataTable.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { Callout } from '../../components/ui.tsx';
import { plain } from '../../format.ts';
import { Time } from '../../zone.tsx';

export function Keys() {
  const { key: own } = useCaller();
  const mayWrite = useMay('keys:write');
  const columns: Column<ApiKey>[] = [
    {
      title: 'Name',
      value: (key) => key.name,
      cell: (key) => (
        <>
          <bdi>{plain(key.name)}</bdi> {key.id === own.id && <span className="quiet">(current)</span>}
        </>
      ),
    },
    { title: 'Scopes', value: (key) => key.scopes.join(', ') },
    { title: 'API key', value: (key) => key.tokenHint, cell: (key) => <Code>…{key.tokenHint}</Code>, wideOnly: true },
    { title: 'Allowed addresses', value: (key) => key.allowedAddresses?.join(' ') ?? 'Any', wideOnly: true },
    {
      title: 'Last used',
      value: (key) => key.lastUsedAt,
      cell: (key) => (key.lastUsedAt === null ? 'Never' : <Time at={key.lastUsedAt} />),
    },
    {
      title: 'Expires',
      value: (key) => key.expiresAt,
      cell: (key) => (key.expiresAt === null ? 'Never' : <Time at={key.expiresAt} />),
      wideOnly: true,
    },
    { title: 'ID', value: (key) => key.id, as: 'id', wideOnly: true },
    ...(mayWrite ? [{ title: 'Actions', cell: (key: ApiKey) => <Revoke of={key} isOwn={key.id === own.id} /> }] : []),
  ];
  return (
    <ListPage
      of="API key"
      list="listApiKeys"
      columns={columns}
      onOpen={false}
      make="keys:write"
      empty="Use API keys to sign in to the console and authenticate API requests."
    >
      {mayWrite && <p className="quiet">To give a colleague access, create a key for them.</p>}
    </ListPage>
  );
}

function Revoke({ of: key, isOwn }: { of: ApiKey; isOwn: boolean }) {
  return (
    <ConfirmedAction
      label="Revoke"
      title={`Revoke ${plain(key.name)}`}
      verb="Revoke key"
      isDestructive
      run={() => call('revokeApiKey', { id: key.id })}
      said="API key revoked"
    >
      <p>
        The key stops working immediately. This cannot be undone.{' '}
        {key.lastUsedAt ? (
          <>
            Last used <Time at={key.lastUsedAt} />.
          </>
        ) : (
          'Never used.'
        )}
      </p>
      {isOwn && (
        <Callout tone="bad" title="You are signed in with this key">
          You will be signed out of the console.
        </Callout>
      )}
    </ConfirmedAction>
  );
}
