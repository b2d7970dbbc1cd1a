// CIRC, and what it is to be enabled.
import { expect } from 'chai';
import type { Json } from '../../support/api-client.ts';
import { until } from '../../support/until.ts';
import { expectTimestamps, rowsOf, type World } from '../world.ts';
import { circuit, PATH } from './route-records.ts';

const untilCircuit = (w: World, id: string, state: string) =>
  until(`the circuit to be ${state}`, async () => {
    const status = await circuit(w, id);
    return status.circuitState === state ? status : undefined;
  });
/** A route whose circuit is open; its destination answers what `answer` says from then on. */
async function opened(w: World, fields: Json = {}) {
  const current: { status: number } = { status: 500 };
  const endpoint = w.receiver.endpoint(current);
  const made = await w.records.pipe(endpoint.url, {
    route: { circuitFailureThreshold: 2, circuitCooldownSeconds: 3600, ...fields },
  });
  for (let n = 0; n < 2; n += 1) await w.records.accepted(made.source, '{}');
  await untilCircuit(w, made.route.id, 'open');
  return { ...made, endpoint, answer: (status: number) => Object.assign(current, { status }) };
}

export const circuitRows = rowsOf({
  'CIRC-01 CIRC-02 opens after failures in a row, and fails over': async (w) => {
    const failover = w.receiver.endpoint(200);
    const { id } = await w.records.destination(failover.url);
    const { route, source, endpoint } = await opened(w, { failoverDestinationIds: [id], failoverAfterAttempts: 1 });
    expectTimestamps(await circuit(w, route.id), 'openedAt');
    const before = endpoint.requests.length;
    const eventId = await w.records.accepted(source, '{"while":"open"}');
    await w.records.eventWith('delivered', eventId);
    expect(endpoint.requests.length, 'the primary is left alone').to.equal(before);
    // Beside those that opened the circuit, which may arrive after it.
    expect(failover.requests.map(({ body }) => body.toString())).to.include('{"while":"open"}');
  },
  'CIRC-02 probes when the cooldown is over': async (w) => {
    const { route, source, endpoint } = await opened(w);
    const before = endpoint.requests.length;
    await w.records.accepted(source, '{}');
    await w.api.patch(`${PATH}/${route.id}/circuit-config`, { circuitCooldownSeconds: 1 });
    await until('a probe', () => endpoint.requests.length > before);
  },
  'CIRC-03 CIRC-07 closes after enough successful probes, and releases what waits': async (w) => {
    const { route, source, answer } = await opened(w, { circuitProbeSuccessThreshold: 2 });
    const held = [await w.records.accepted(source, '{}'), await w.records.accepted(source, '{}')];
    answer(200);
    await w.api.patch(`${PATH}/${route.id}/circuit-config`, { circuitCooldownSeconds: 1 });
    await untilCircuit(w, route.id, 'closed');
    for (const eventId of held) await w.records.deliveryWith('delivered', eventId);
    await w.records.deliveryWith('delivered', await w.records.accepted(source, '{}'));
  },
  'CIRC-06 is closed by a reset from any state': async (w) => {
    const { route } = await opened(w);
    expect(await w.api.post(`${PATH}/${route.id}/reset-circuit`)).to.include({ circuitState: 'closed' });
    expect(await circuit(w, route.id)).to.include({ circuitState: 'closed', openedAt: null });
    expect(await w.api.post(`${PATH}/${route.id}/reset-circuit`)).to.include({ circuitState: 'closed' });
  },
  'CIRC-01 CIRC-02 lets deliveries flow while closed, and holds them while open': async (w) => {
    expect(await circuit(w, (await w.delivered()).route.id)).to.include({ circuitState: 'closed' });
    const { source, endpoint, route, answer } = await opened(w);
    const before = endpoint.requests.length;
    const eventId = await w.records.accepted(source, '{}');
    await w.records.deliveryWith('circuit_open', eventId);
    expect(endpoint.requests.length).to.equal(before);
    answer(200);
    await w.api.post(`${PATH}/${route.id}/reset-circuit`);
    await w.records.deliveryWith('delivered', eventId);
  },
  'ROUTE-47 sources, destinations and routes are enabled, which files call isActive': async (w) => {
    const { route, destination, source } = await w.pipe();
    for (const path of [
      `${PATH}/${route.id}`,
      `/api/destinations/${destination.id}`,
      `${w.base}/sources/${source.id}`,
    ]) {
      expect((await w.api.get(path)).enabled, path).to.equal(true);
    }
    expect(await w.api.post(`${PATH}/bulk-pause`, { routeIds: [route.id], isActive: false })).to.include({
      updated: 1,
    });
    const file = await w.api.get<{ routes: Json[] }>(`${PATH}/export?ids=${route.id}`);
    expect(file.routes[0]?.isActive).to.equal(false);
  },
  'ROUTE-24 SRC-08 DEST-15 an update disables and enables': async (w) => {
    const { route, destination, source } = await w.pipe();
    for (const path of [
      `${PATH}/${route.id}`,
      `/api/destinations/${destination.id}`,
      `${w.base}/sources/${source.id}`,
    ]) {
      expect((await w.api.patch<Json>(path, { enabled: false })).enabled).to.equal(false);
      expect((await w.api.patch<Json>(path, { enabled: true })).enabled).to.equal(true);
    }
  },
});
