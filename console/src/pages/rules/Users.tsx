// Which routes use a filter, a transform or a schema; and its end.
import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useAll } from '../../api/all.ts';
import { useMay } from '../../api/caller.tsx';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Name } from '../../components/Name.tsx';
import { countText } from '../../format.ts';

type Member = 'filterId' | 'transformId' | 'schemaId';

export function Users({ member, id, count }: { member: Member; id: string; count: number }) {
  const mayRead = useMay('routes:read');
  const { data, error } = useAll('listRoutes', mayRead && count > 0);
  const routes = data?.records.filter((route) => route[member] === id) ?? [];
  return (
    <Text size="sm" component="div">
      {count === 0 ? 'No route uses it.' : `${countText(count)} ${count === 1 ? 'route uses' : 'routes use'} it: `}
      {error && <Failed error={error} />}
      {routes.map((route, index) => (
        <span key={route.id}>
          {index > 0 && ', '}
          <Name id={route.id} name={route.name} />
        </span>
      ))}
    </Text>
  );
}

interface DeleteProps {
  what: string;
  count: number;
  run: () => Promise<unknown>;
  to: string;
}

export function DeleteRule({ what, count, run, to }: DeleteProps) {
  const navigate = useNavigate();
  return (
    <ConfirmedAction
      label="Delete"
      title={`Delete this ${what}`}
      verb="Delete it"
      isDestructive
      isReady={count === 0}
      run={async () => {
        await run();
        return `The ${what} is deleted`;
      }}
      onDone={() => navigate({ to })}
    >
      {count === 0
        ? 'No route uses it. It cannot be brought back.'
        : `${countText(count)} ${count === 1 ? 'route uses' : 'routes use'} it: take it out of ${count === 1 ? 'that' : 'them'} first.`}
    </ConfirmedAction>
  );
}
