// A destination that fails because its token is wrong, behind a circuit that has opened: what docs/guide/console.md
// repairs.
import { breaker } from '../workflows/circuits.ts';
import type { ConsoleWorld } from '../programs/console.ts';
import { Issues } from '../messages/issues.ts';

export async function failingHarbour({ records, receiver, hookyard }: ConsoleWorld, name: string) {
  const endpoint = receiver.endpoint(({ headers }) =>
    headers.authorization === 'Bearer right' ? { status: 200 } : { status: 401, body: 'which token?' },
  );
  const { source, route } = await records.pipe(endpoint.url, {
    destination: { name: `${name} desk`, authType: 'bearer', authConfig: { token: 'wrong' } },
    route: { name: `Orders to the ${name}`, ...breaker({ circuitFailureThreshold: 2 }) },
  });
  for (const order of [1, 2]) {
    await records.deliveryWith('failed', await records.accepted(source, `{"order":${order}}`));
  }
  const held = await records.accepted(source, '{"order":3}');
  await records.deliveryWith('circuit_open', held);
  const issue = await new Issues(hookyard.client).untilOpen({ routeId: route.id, kind: 'delivery_failing' });
  const taken = () => endpoint.requests.filter(({ headers }) => headers.authorization === 'Bearer right').length;
  return { route, issue, held, taken };
}
