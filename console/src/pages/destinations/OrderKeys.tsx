// Ordering keys of a destination: what blocks them, what waits, and how they go on.
import { Link } from '@tanstack/react-router';
import type { OrderKey } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { ActionMenu, Confirm } from '../../components/actions.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ExportMenu } from '../../components/ExportMenu.tsx';
import { FilterField } from '../../components/filters.tsx';
import { Empty, Id } from '../../components/ui.tsx';
import { plain, plural, shortened } from '../../format.ts';
import { pageOf, usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';

const MOST_ROUTES = 100;
/** Characters: of a UUID. */
const MOST_KEY = 36;
const STATES = ['blocked', 'waiting'] as const;

/** Whether a destination has ordering keys, or a route that makes them. */
export function useOrdered(id: string): boolean {
  const mayRoutes = useMay('routes:read');
  const routes = useAsk('listRoutes', { destinationId: id, pageSize: MOST_ROUTES }, { enabled: mayRoutes });
  const keys = useAsk('listOrderKeys', { id, pageSize: 1 });
  return Boolean(keys.data?.data.length || routes.data?.data.some(({ ordering }) => ordering !== null));
}

export function OrderKeys({ id }: { id: string }) {
  const [search, set] = usePageSearch();
  const mayWrite = useMay('destinations:write');
  const state = STATES.find((one) => one === search.state);
  const input = { id, page: pageOf(search), pageSize: 20, state };
  const answer = useAsk('listOrderKeys', input, { keep: true, every: AGAIN_MS });
  const columns: Column<OrderKey>[] = [
    {
      title: 'Key',
      value: ({ key }) => key,
      // Events without a key are under the id of their route.
      cell: ({ key }) =>
        key.startsWith('rte_') ? <Id of={key} /> : <bdi title={plain(key)}>{plain(shortened(key, MOST_KEY))}</bdi>,
    },
    { title: 'State', value: (key) => key.state, as: 'status' },
    { title: 'Waiting', value: (key) => key.waiting, as: 'count' },
    {
      title: 'First delivery',
      value: (key) => key.headDeliveryId,
      cell: ({ headDeliveryId, headSince }) =>
        headDeliveryId === null ? (
          <span className="quiet">–</span>
        ) : (
          <Link to={`/deliveries/${headDeliveryId}`}>
            <Time at={headSince} />
          </Link>
        ),
    },
    { title: 'Blocked until', value: (key) => key.blockedUntil, as: 'time', wideOnly: true },
    ...(mayWrite ? [{ title: 'Actions', cell: (key: OrderKey) => <Actions id={id} of={key} /> }] : []),
  ];
  return (
    <>
      <div className="row row-between">
        <FilterField of={{ name: 'state', label: 'State', kind: 'one', choices: STATES }} />
        <ExportMenu call={{ name: 'listOrderKeys', input }} columns={columns} rows={answer.data?.data ?? []} />
      </div>
      <DataTable
        title="Ordering keys"
        columns={columns}
        idOf={(key) => key.id}
        answer={answer}
        onPage={(page) => set({ page: String(page) })}
        empty={
          state === undefined ? (
            <Empty title="No ordering keys">Keys appear once a route with ordering receives events.</Empty>
          ) : (
            <Empty title={`No ${state} ordering keys`} />
          )
        }
      />
    </>
  );
}

function Actions({ id, of: { id: key, key: name, state, waiting } }: { id: string; of: OrderKey }) {
  const isBlocked = state === 'blocked';
  if (!isBlocked && state !== 'waiting') return null;
  return (
    <ActionMenu
      of={{
        'Skip first delivery': (
          <Confirm
            title={`Skip first delivery of ${plain(name)}`}
            verb="Skip delivery"
            run={() => call('skipOrderKey', { id, key })}
            said="Delivery skipped"
          >
            <p>
              {isBlocked ? 'The failed delivery no longer blocks the key.' : 'The first delivery is cancelled.'} The
              key's next event is delivered. If you replay the skipped delivery, it goes to the end of the order.
            </p>
          </Confirm>
        ),
        Release: waiting > 0 && (
          <Confirm
            title={`Release ${plain(name)}`}
            verb="Release key"
            run={() => call('releaseOrderKey', { id, key })}
            said="Ordering key released"
          >
            <p>
              {plural(waiting, 'waiting delivery')} will be sent in order and will not block the key if{' '}
              {waiting === 1 ? 'it fails' : 'they fail'}.
            </p>
          </Confirm>
        ),
      }}
    />
  );
}
