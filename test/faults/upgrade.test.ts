// An installation of the release before, stopped with all kinds of work in progress, continues with this release: its migrations
// run, its rows are read, and its workflows are replayed by this release's code (docs/upgrading.md).
import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { replay } from '../../workflows/messages.ts';
import { circuitWorkflowId } from '../../core/workflow-names.ts';
import { type DeliveryView, Records, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { type Upgraded, upgrade } from './upgrade/installation.ts';
import { migrationsOf, readStateFile, type State } from './upgrade/state.ts';
import { type EndpointName, signed, type Story } from './upgrade/story.ts';

const project = join(import.meta.dirname, '..', '..');
const states = join(import.meta.dirname, 'upgrade');
// A worker takes over workflows from one that is gone, beside everything else that is due at once.
const GOES_ON_MS = 240_000;
const REPLAY_WINDOW_MS = 8760 * 3_600_000;
// https://github.com/temporalio/api/blob/master/temporal/api/enums/v1/event_type.proto
const WORKFLOW_TASK_FAILED = 9;
// What the server answers to a workflow that ends while a signal arrives: the task is made again, with the signal. It says nothing
// of the code (https://github.com/temporalio/api/blob/master/temporal/api/enums/v1/failed_cause.proto).
const UNHANDLED_COMMAND = 1;

for (const file of readdirSync(states).filter((name) => name.endsWith('.state.gz'))) {
  describe(`the upgrade of ${file.replace('.state.gz', '')} @turns`, function () {
    this.timeout(900_000);
    let state: State;
    let story: Story;
    let upgraded: Upgraded;
    let records: Records;
    before(async () => {
      state = readStateFile(join(states, file));
      ({ story } = state.head);
      upgraded = await upgrade(state);
      records = new Records(upgraded);
    });
    after(() => upgraded?.close());

    const arrived = (name: EndpointName, header = 'x-hookyard-attempt') =>
      upgraded.endpoints[name].requests.map(({ headers }) => headers[header]);
    const delivery = (id: string, what: string, look: (delivery: DeliveryView) => boolean) =>
      until(
        `${id} to be ${what}`,
        async () => {
          const view = await records.delivery(id);
          if (!look(view)) throw new Error(`it is ${view.status} after ${view.attemptCount} attempts (${view.error})`);
          return view;
        },
        GOES_ON_MS,
      );
    const delivered = (id: string) => delivery(id, 'delivered', ({ status }) => status === 'delivered');
    const event = (status: string, id: string) =>
      until(`event ${id} to be ${status}`, async () => (await records.event(id)).status === status, GOES_ON_MS);
    /** The workflow that the release before has started, and no other with its id. */
    const oldWorkflow = async (id: string): Promise<WorkflowHandle> => {
      const handle = upgraded.temporal.workflow.getHandle(id);
      const { startTime } = await handle.describe();
      expect(startTime.toISOString() < state.head.savedAt, `${id} was started before the upgrade`).to.equal(true);
      return handle;
    };

    it('runs the migrations that are new; none that a release has run was edited', async () => {
      const now = migrationsOf(project);
      for (const [name, digest] of Object.entries(state.head.migrations)) expect(now[name], name).to.equal(digest);
      const { rows } = await upgraded.pool.query<{ name: string }>('select name from schema_migrations order by name');
      expect(rows.map(({ name }) => name)).to.deep.equal(Object.keys(now));
    });

    it('shows what the release before has written', async () => {
      const { client, base } = upgraded;
      for (const { sourceId, destinationId, routeId } of [story.crm, story.flaky, story.down, story.replay]) {
        await client.get(`${base}/sources/${sourceId}`);
        await client.get(`/api/destinations/${destinationId}/health`);
        const route = await client.get<{ destinationIds: string[] }>(`/api/routes/${routeId}`);
        expect(route.destinationIds).to.deep.equal([destinationId]);
      }
      const crm = await records.event(story.crm.eventId, 'includePayload=true&includeDeliveries=true');
      expect(crm).to.deep.include({ status: 'delivered', payload: { kind: 'paid', id: 'order-1' } });
      expect(await records.delivery(story.flaky.deliveryId)).to.include({ status: 'retrying', attemptCount: 1 });
      expect(await records.delivery(story.express.deliveryId)).to.include({ status: 'retrying', lane: 'express' });
      expect(await records.delivery(story.limited.deliveryId)).to.include({ status: 'pending', attemptCount: 0 });
      for (const { deliveryId } of story.parked) {
        expect(await records.delivery(deliveryId)).to.include({ status: 'failed', attemptCount: 2 });
      }
      for (const { deliveryId } of [story.down.heldAfter, story.down.heldBefore]) {
        expect((await records.delivery(deliveryId)).status).to.equal('circuit_open');
      }
      const { pagination } = await client.list(`/api/deliveries?status=circuit_open`);
      expect(pagination.total).to.equal(2);
    });

    it('continues with retries, and with a failover', async () => {
      await upgraded.startWorker();
      const { flaky, express, failover } = story;
      await delivery(flaky.deliveryId, 'tried again', ({ attemptCount }) => attemptCount === 2);
      await upgraded.client.post(`/api/deliveries/${flaky.deliveryId}/retry`, {});
      await Promise.all([delivered(flaky.deliveryId), delivered(express.deliveryId)]);
      expect(arrived('flaky')).to.deep.equal(['2', '3']);
      expect(arrived('express')).to.deep.equal(['2']);
      await event('delivered', failover.eventId);
      expect(arrived('primary')).to.deep.equal(['2']);
      expect(arrived('standby')).to.deep.equal(['1']);
      expect((await records.delivery(failover.deliveryId)).status).to.equal('failed_over');
      for (const { deliveryId } of [flaky, express, failover]) await (await oldWorkflow(deliveryId)).result();
    });

    it('delivers what waits for the slot of a rate limit', async () => {
      await delivered(story.limited.deliveryId);
      expect(arrived('limited')).to.deep.equal(['1']);
    });

    it('lets the workflow of an open circuit probe, and release what is held', async () => {
      const { routeId, heldAfter, heldBefore } = story.down;
      const circuit = await oldWorkflow(circuitWorkflowId(routeId));
      const { requests } = upgraded.endpoints.down;
      await until(
        'a probe to have failed',
        async () => {
          const status = await upgraded.client.get<{ circuitState: string }>(`/api/routes/${routeId}/circuit-status`);
          return requests.length === 1 && status.circuitState === 'open';
        },
        GOES_ON_MS,
      );
      await upgraded.client.post(`/api/routes/${routeId}/reset-circuit`, {});
      await Promise.all([delivered(heldAfter.deliveryId), delivered(heldBefore.deliveryId)]);
      const seen = requests.map(({ headers, body }) => `${headers['x-hookyard-attempt']} ${body.toString()}`);
      expect(seen[0], 'the probe').to.equal('2 {"n":1}');
      expect(seen.slice(1).toSorted()).to.deep.equal(['1 {"n":2}', '3 {"n":1}']);
      await (await oldWorkflow(heldAfter.deliveryId)).result();
      await circuit.result();
    });

    it('replays what has failed, asked by the API', async () => {
      const [parked] = story.parked;
      if (!parked) throw new Error('the story has none');
      await upgraded.client.post(`/api/deliveries/${parked.deliveryId}/replay`, {});
      await event('delivered', parked.eventId);
    });

    it('replays what has failed, asked by a signal', async function () {
      // Its workflow waits for a year from then on; should this state still be in use, there is nothing to send a signal to.
      if (Date.now() - Date.parse(state.head.savedAt) > REPLAY_WINDOW_MS) this.skip();
      const parked = story.parked[1];
      if (!parked) throw new Error('the story has only one');
      const workflow = await oldWorkflow(parked.deliveryId);
      await workflow.signal(replay);
      await event('delivered', parked.eventId);
      expect(await workflow.result()).to.include({ status: 'failed' });
    });

    it('continues with a replay by filter', async () => {
      const { replayId, eventIds } = story.replay;
      await (await oldWorkflow(replayId)).result();
      const view = await upgraded.client.get(`${upgraded.base}/events/replays/${replayId}`);
      expect(view).to.include({ status: 'completed', eventsReplayed: eventIds.length });
      for (const id of eventIds) await event('delivered', id);
      const events = arrived('target', 'x-hookyard-event-id');
      expect(events, 'some were left').to.be.not.empty;
      expect(new Set(events).size, 'none twice').to.equal(events.length);
    });

    it('sends the mail that was due, and takes new webhooks with the stored secrets, filter, schema and transform', async () => {
      const { sourceId, webhookPath, secret, eventId, mailTo } = story.crm;
      const { mails } = upgraded.mailServer;
      const mail = await until('the mail', () => mails.find(({ to }) => to.includes(mailTo)), GOES_ON_MS);
      expect(mail.parts['text/plain']).to.contain(eventId);
      const view = await upgraded.client.get<SourceView>(`${upgraded.base}/sources/${sourceId}`);
      expect(new URL(view.webhookUrl).pathname).to.equal(webhookPath);
      const post = (body: string, key: string) => records.post(view, body, signed(body, key));
      expect((await post('{}', 'another secret')).status).to.equal(401);
      const filtered = await post('{"kind":"open","id":"order-2"}', secret);
      expect((await records.event(filtered.body.eventId)).deliveriesCount).to.equal(0);
      const taken = await post('{"kind":"paid","id":"order-3"}', secret);
      await event('delivered', taken.body.eventId);
      const { requests } = upgraded.endpoints.crm;
      expect(requests.map(({ body }) => JSON.parse(body.toString()))).to.deep.equal([{ order: 'order-3' }]);
      expect(requests[0]?.headers.authorization).to.equal('Bearer the-token-of-a-destination-of-this-state');
    });

    it('keeps the schedules going, and adds those that are new', async () => {
      const { temporal } = upgraded;
      await until('the schedules', async () => {
        const ids: string[] = [];
        for await (const { scheduleId } of temporal.schedule.list()) ids.push(scheduleId);
        return ids.includes('hookyard-maintenance') && ids.includes('hookyard-reconciliation');
      });
      const schedule = temporal.schedule.getHandle('hookyard-maintenance');
      const before = (await schedule.describe()).info.numActionsTaken;
      await schedule.trigger();
      const action = await until('housekeeping to begin', async () => {
        const { info } = await schedule.describe();
        return info.numActionsTaken > before && info.recentActions.at(-1)?.action;
      });
      await temporal.workflow.getHandle(action.workflow.workflowId).result();
    });

    it('replays every workflow of the release before without a failed workflow task', async () => {
      const { temporal } = upgraded;
      let seen = 0;
      for await (const { workflowId, runId } of temporal.workflow.list()) {
        const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
        const failed = events
          ?.filter(({ eventType }) => eventType === WORKFLOW_TASK_FAILED)
          .filter((event) => event.workflowTaskFailedEventAttributes?.cause !== UNHANDLED_COMMAND)
          .map((event) => event.workflowTaskFailedEventAttributes?.failure?.message);
        expect(failed, `failed workflow tasks of ${workflowId}`).to.deep.equal([]);
        seen += 1;
      }
      expect(seen).to.be.at.least(Object.keys(story).length);
    });
  });
}
