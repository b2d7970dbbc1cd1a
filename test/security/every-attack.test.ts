// The attacks of docs/security.md by number and by address, each in short and in every run: who is refused, who is served, in which
// order, and what is reached. By content and by limits: every-attack-content.test.ts, every-attack-limits.test.ts.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { storeMany } from '../../bench/support/many-events.ts';
import { resumeOrganization, suspendOrganization } from '../../db/organizations/suspension.ts';
import { expectError, expectInvalid } from '../support/api-client.ts';
import { type AttackedInstance, PUBLIC_URL, SMALL, startAttackedInstance } from '../support/attacked-instance.ts';
import { sendFrom } from '../support/from-address.ts';
import type { OwnHookyard } from '../support/hookyard.ts';
import { linkIn, type ReceivedMail } from '../support/mail-server.ts';
import {
  addNeighbour,
  type Arrivals,
  expectAccepted,
  expectDelivered,
  fanOut,
  type Neighbour,
  watchArrivals,
} from '../support/neighbours.ts';
import { lake } from '../support/operator-r2.ts';
import type { Receiver } from '../support/receiver.ts';
import { times } from '../support/times.ts';
import { busy, QUICK } from '../support/transforms.ts';
import { until } from '../support/until.ts';
import { isRefused, openConnection, stalledWebhook } from './raw-connection.ts';

const BROADCASTS = 7;
const DEAD = SMALL.backlog / 4;
const CHANGES = 15;
const SLOW_BODIES = 12;
const STRANGER = '127.0.0.9';
const OTHERS = 3;
const VICTIM = 'victim@strangers.example';
const FRIEND = 'team@friends.example';
const BAIT = 'Confirm your account at https://evil.example/login';
const OWN = /belongs to Hookyard itself/;
const BODY = 512 * 1024;
/** Deliveries that wait, and how many webhooks they come from. */
const FLOOD = 30;
const TRANSFORMS = 12;
const WEBHOOKS = 3;

describe('Every attack, in short', () => {
  let attacked: AttackedInstance;
  let testInstance: OwnHookyard;
  let receiver: Receiver;
  let other: Neighbour;
  before(async () => {
    attacked = await startAttackedInstance();
    ({ testInstance, receiver } = attacked);
    other = await addNeighbour(testInstance);
  });
  after(() => attacked?.close());

  const attacker = () => addNeighbour(testInstance);

  it('dead destinations fill a share of the backlog, and webhooks of others are taken', async () => {
    const greedy = await attacker();
    const dead = await fanOut(greedy, [receiver.endpoint(500).url], DEAD);
    const { source: open } = await greedy.records.pipe(receiver.endpoint(200).url);
    const { source } = await other.records.pipe(receiver.endpoint(200).url);
    const answers = await Promise.all(times(BROADCASTS, () => greedy.records.post(dead.source, '{}')));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(BROADCASTS - refused.length, 'its share, and no more').to.be.within(1, 3);
    for (const { status, headers } of refused) expect([status, headers['retry-after']]).to.deep.equal([503, '10']);
    // What was stored while a count ran counts twice until the next one: here that is all that may wait.
    await until('others to be taken', async () => (await other.records.post(source, '{}')).status === 200);
    await expectAccepted(other, source, OTHERS);
    // It has room again once they are through.
    await testInstance.pool.query('delete from outbox where organization_id = $1', [greedy.organizationId]);
    await until('room again', async () => (await greedy.records.post(open, '{}')).status === 200);
  });

  it('slow bodies from one address to sources that ask for signatures leave memory to others', async () => {
    const victim = await attacker();
    const verificationConfig = { type: 'github', secret: 'a secret of sixteen bytes' };
    const signed = await Promise.all(times(3, () => victim.records.source({ verificationConfig })));
    const addresses = signed.map(({ webhookUrl }) => testInstance.api.url + new URL(webhookUrl).pathname);
    const bytes = Math.floor(0.9 * SMALL.payloadBytes);
    const begin = (n: number) =>
      stalledWebhook(addresses[n % 3] ?? '', { from: STRANGER, length: SMALL.payloadBytes, bytes });
    const stalls = await Promise.all(times(SLOW_BODIES, begin));
    await until('the address to have its share', async () => {
      stalls.push(await begin(stalls.length));
      const whole = { method: 'POST', body: 'x'.repeat(bytes) };
      return (await sendFrom(STRANGER, addresses[0] ?? '', null, whole)).status === 503;
    });
    // Another source of the attacked one, and another organization.
    for (const neighbour of [victim, other]) {
      await expectAccepted(neighbour, await neighbour.records.source(), OTHERS, Buffer.alloc(100_000));
    }
    expect(stalls.every(isRefused), 'the flood still stands').to.equal(false);
    for (const { socket } of stalls) socket.destroy();
  });

  it('connections from one address are no more than are free', async () => {
    const port = Number(new URL(testInstance.api.url).port);
    const connections = await Promise.all(
      times(SMALL.connections * 0.7, () => openConnection(port, { from: STRANGER })),
    );
    await until('some to be refused', () => connections.some(isRefused));
    await expectAccepted(other, await other.records.source(), OTHERS);
    await other.instance.client.list('/api/destinations');
    for (const { socket } of connections) socket.destroy();
  });

  it('changes that wait for a lock leave connections to others', async () => {
    const greedy = await attacker();
    const { route } = await greedy.records.pipe(receiver.endpoint(200).url);
    const theirs = await other.records.pipe(receiver.endpoint(200).url);
    const holder = await testInstance.pool.connect();
    let changed = 0;
    const change = async (n: number) => {
      const { status } = await greedy.instance.client.request('PATCH', `/api/routes/${route.id}`, { name: `N ${n}` });
      if (status === 200) changed += 1;
      return status;
    };
    await holder.query('begin');
    await holder.query('select from routes where id = $1 for update', [route.id]);
    const changes = Promise.all(times(CHANGES, change));
    try {
      await until('changes to wait for it', async () => {
        const { rowCount } = await testInstance.pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return (rowCount ?? 0) >= 2;
      });
      for (let n = 0; n < OTHERS; n += 1) {
        await other.instance.client.patch(`/api/routes/${theirs.route.id}`, { name: `Other ${n}` });
        await other.instance.client.list('/api/deliveries');
      }
      expect(changed, 'while every change waits or was refused').to.equal(0);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    for (const status of await changes) expect(status).to.be.oneOf([200, 503]);
  });

  describe('with a worker', () => {
    let deliveries: Arrivals;
    let transforms: Arrivals;
    let mailed: Awaited<ReturnType<Neighbour['records']['pipe']>>;

    before('everything waits when it starts', async () => {
      [deliveries, transforms] = [watchArrivals(receiver), watchArrivals(receiver)];
      /** Members of a route that has such a transform. */
      const route = async ({ instance }: Neighbour, code: string) => {
        const { id } = await instance.client.create('/api/transforms', { name: 'T', type: 'javascript', code });
        return { route: { transformId: id } };
      };
      const [flooding, slow, late, quick] = [await attacker(), await attacker(), await attacker(), await attacker()];
      const flood = await fanOut(flooding, [deliveries.endpoint('greedy').url], FLOOD / WEBHOOKS);
      const heavyUrl = transforms.endpoint('greedy').url;
      const heavy = await fanOut(slow, [heavyUrl], TRANSFORMS / WEBHOOKS, await route(slow, busy(2)));
      const after = await late.records.pipe(deliveries.endpoint('other').url);
      const light = await quick.records.pipe(transforms.endpoint('other').url, await route(quick, QUICK));
      await expectAccepted(flooding, flood.source, WEBHOOKS);
      await expectAccepted(slow, heavy.source, WEBHOOKS);
      await expectAccepted(late, after.source, OTHERS);
      await expectAccepted(quick, light.source, OTHERS);
      mailed = await other.records.pipe(receiver.endpoint(500).url, {
        route: { name: BAIT, notifyEmails: `${VICTIM}, ${FRIEND}`, notifyOnFailure: true },
      });
      await testInstance.startWorker({ HOOKYARD_PORT: String(attacked.ownPorts['the API']) });
    });

    it('deliveries that wait longer have few made before those of another', async () => {
      await until('all', () => deliveries.count('other') === OTHERS && deliveries.count('greedy') === FLOOD);
      expect(deliveries.ahead()).to.be.at.most(FLOOD / 2);
    });

    it('slow transforms that wait longer have few run before those of another', async () => {
      await until('all', () => transforms.count('other') === OTHERS && transforms.count('greedy') === TRANSFORMS);
      expect(transforms.ahead()).to.be.at.most(TRANSFORMS / 2);
    });

    it('destinations that hang leave a quarter of the places to others', async () => {
      const greedy = await attacker();
      const gate = Promise.withResolvers<void>();
      const hanging = receiver.endpoint({ after: gate.promise });
      const stuck = await fanOut(greedy, [hanging.url], SMALL.inFlight, { destination: { timeoutMs: 60_000 } });
      const lively = await other.records.pipe(receiver.endpoint(200).url);
      try {
        await expectAccepted(greedy, stuck.source, 2);
        await until('its share to hang', () => hanging.waiting >= SMALL.inFlight / 2);
        await expectDelivered(other, lively.source, OTHERS);
        expect(hanging.requests.length, 'all that were sent hang still').to.equal(hanging.waiting);
        expect(hanging.waiting).to.be.at.most((SMALL.inFlight * 3) / 4);
      } finally {
        gate.resolve();
      }
    });

    it('own services are reached by no name, no address and no redirect', async () => {
      const { records, instance } = other;
      const reach = async ([what, port]: [string, number]) => {
        const { id } = await records.destination('http://127.0.0.1:1/', { name: `${what}, tried` });
        for (const host of ['127.0.0.1', 'localhost']) {
          await instance.client.patch(`/api/destinations/${id}`, { url: `http://${host}:${port}/` });
          const { error } = await instance.client.post(`/api/destinations/${id}/test`);
          expect(error, `${what} at ${host}`).to.match(OWN);
        }
        const allowed = { destination: { name: what }, route: { allowOwnAddress: true } };
        const { delivery } = await records.deliver(`http://localhost:${port}/`, '{}', 'failed', allowed);
        expect(delivery.error, what).to.match(OWN);
      };
      await Promise.all(Object.entries(attacked.ownPorts).map(reach));
      const location = `http://127.0.0.1:${attacked.ownPorts['the Temporal UI']}/`;
      const redirecting = receiver.endpoint({ status: 307, headers: { Location: location } });
      await records.deliver(redirecting.url, '{}', 'failed');
      expect(redirecting.requests).to.have.length(1);
      expect(attacked.uiConnections()).to.equal(0);
    });

    it('loops end by their count of hops, and lead to no address of the service', async () => {
      const endpoint = receiver.endpoint(200);
      const { source } = await other.records.pipe(endpoint.url);
      const refused = await other.records.post(source, '{}', { 'x-hookyard-hops': '5' });
      expect({ status: refused.status, ...refused.body }).to.include({ status: 508, code: 'LOOP_DETECTED' });
      const last = await other.records.accepted(source, '{}', { 'x-hookyard-hops': '4' });
      await other.records.deliveryWith('delivered', last);
      expect(endpoint.requests[0]?.headers).to.include({ 'x-hookyard-hops': '5' });

      const inner = await other.records.source();
      const { id } = await other.records.destination(PUBLIC_URL + new URL(inner.webhookUrl).pathname);
      const back = { name: 'Back', sourceId: inner.id, destinationIds: [id] };
      expectInvalid(await other.instance.client.request('POST', '/api/routes', back), 'destinationIds');
      // One that was stored before the setting came.
      const route = await other.records.route(inner.id, [id], { allowOwnAddress: true });
      await testInstance.pool.query(
        'update routes set allow_own_address = false, version = version + 1 where id = $1',
        [route.id],
      );
      const delivery = await other.records.deliveryWith('failed', await other.records.accepted(inner, '{}'));
      expect(delivery).to.include({ attemptCount: 0 });
      expect(delivery.error).to.include('HOOKYARD_PUBLIC_URL');
    });

    it("the operator's R2 keys write only where the operator says", async () => {
      const { client } = testInstance;
      const { id } = await client.create('/api/destinations', lake({ bucket: 'events', prefix: 'hooks/eu' }));
      expect(await client.post(`/api/destinations/${id}/test`)).to.include({ success: true });
      for (const [who, config] of [
        [client, { bucket: 'events' }],
        [client, { bucket: 'logs' }],
        [other.instance.client, { bucket: 'events', prefix: 'hooks/eu' }],
      ] as const) {
        const answer = await who.request('POST', '/api/destinations', lake(config));
        expectError(answer, 400, undefined, /HOOKYARD_WAREHOUSE_IDENTITY/);
      }
      expect(attacked.r2.byOperator()).to.have.length(1);
    });

    it('strangers get one question without a word of the tenant, and no notification', async () => {
      const mailsTo = (address: string): ReceivedMail[] => attacked.mail.mails.filter(({ to }) => to.includes(address));
      const [question, asked] = await until('both questions', () => {
        const first = [...mailsTo(VICTIM), ...mailsTo(FRIEND)];
        return first.length === 2 && first;
      });
      for (const part of Object.values(question?.parts ?? {})) expect(part).to.not.match(/evil|account/);
      const link = asked ? linkIn(asked).replace(PUBLIC_URL, testInstance.api.url) : '';
      expect((await fetch(link, { method: 'POST' })).ok).to.equal(true);
      await other.records.eventWith('failed', await other.records.accepted(mailed.source, '{}'));
      await until('the notification of the one who agreed', () => mailsTo(FRIEND)[1]);
      expect(mailsTo(VICTIM)).to.have.length(1);
      const { withheldEmails } = await other.instance.client.get(`/api/routes/${mailed.route.id}`);
      expect(withheldEmails).to.deep.equal([VICTIM]);
    });

    it('a suspended organization is refused, its deliveries wait, and others pass', async () => {
      const misused = await attacker();
      const { organizationId, records } = misused;
      const endpoint = receiver.endpoint(200);
      const { source, route, destination } = await records.pipe(endpoint.url);
      await suspendOrganization(testInstance.pool, organizationId);
      const refused = await records.post(source, '{}');
      expect({ status: refused.status, ...refused.body }).to.include({ status: 403, code: 'ORGANIZATION_SUSPENDED' });
      await until('the worker to know it', () => {
        const lines = testInstance.logs().split('\n');
        return lines.some((line) => line.includes(organizationId) && line.includes('are suspended'));
      });
      const of = { organizationId, sourceId: source.id, routeId: route.id, destinationId: destination.id };
      const [eventId = ''] = await storeMany(testInstance.pool, { ...of, count: 1, status: 'pending' });
      await expectDelivered(other, (await other.records.pipe(receiver.endpoint(200).url)).source, OTHERS);
      expect(endpoint.requests).to.have.length(0);
      await resumeOrganization(testInstance.pool, organizationId);
      await records.deliveryWith('delivered', eventId);
    });
  });

  // The last one: little room is left.
  describe('in a database that is nearly full', () => {
    it('the organization that fills it is refused, and webhooks of others are taken', async () => {
      const greedy = await attacker();
      const [source, theirs] = [await greedy.records.source(), await other.records.source()];
      const refusal = async () => {
        const { status, bytes } = await greedy.records.post(source, randomBytes(BODY));
        return status === 200 ? null : [status, bytes.toString()].join();
      };
      for (const accepted of [OTHERS, 0]) {
        expect(await until('it to be refused', refusal)).to.match(/^503,.*This organization holds its share/);
        await expectAccepted(other, theirs, accepted);
      }
    });
  });
});
