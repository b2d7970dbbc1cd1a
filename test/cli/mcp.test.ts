// hookyard mcp over stdio: an assistant finds out what failed and why, tries the cure, and sends again what the user
// agreed to.
import { expect } from 'chai';
import { bounded } from '../../cli/mcp/tool.ts';
import { parseExact } from '../../core/text/exact-json.ts';
import { ingest, makeDestination, makeRoute, makeSource, type SourceRecord } from '../support/api-records.ts';
import { type McpClient, startMcp } from '../support/programs/mcp.ts';
import type { Endpoint } from '../support/receiver.ts';
import { sharedService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useOrganization, useReceiver } from '../support/use-hookyard.ts';

const BIG_ID = '820982911946154509';

interface Group {
  cause: string;
  count: number;
  statuses: Record<string, number>;
  route: { id: string; name: string };
  destination: { id: string };
  sample: { deliveryId: string; eventId: string };
}

describe('hookyard mcp', () => {
  const organization = useOrganization();
  const receiver = useReceiver();
  let crm: Endpoint;
  let source: SourceRecord;
  let route: { id: string };
  let destination: { id: string };
  let reader: McpClient;
  let writer: McpClient;
  let events: string[];
  let group: Group;
  before(async () => {
    await sharedService('worker');
    // Two deliveries fail, all further ones arrive.
    const broken = { status: 500, body: 'the order table is locked' };
    crm = receiver.endpoint(broken, broken, 200);
    source = await makeSource(organization);
    destination = await makeDestination(organization, {
      name: 'CRM',
      url: crm.url,
      authType: 'bearer',
      authConfig: { token: 'whisper-whisper' },
      retryPolicy: { maxRetries: 0 },
    });
    route = await makeRoute(organization, source.id, [destination.id], { name: 'Orders to the CRM' });
    events = [];
    for (const kind of ['order.paid', 'order.lost'])
      events.push(await ingest(organization, source, `{"kind":"${kind}","order":{"id":${BIG_ID}}}`));
    [reader, writer] = await Promise.all([startMcp(organization), startMcp(organization, ['--write'])]);
    group = await until('two failures', async () => {
      const { groups } = await reader.data<{ groups: Group[] }>('list_failures', { since: '1h' });
      return groups[0]?.count === 2 && groups[0];
    });
  });

  it('lists tools that only read, and the others with --write', async () => {
    const { tools } = await reader.client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).to.include.members(['list_failures', 'get_delivery', 'get_event', 'try_transform', 'preview_route']);
    for (const { name, description, annotations, outputSchema } of tools) {
      expect(annotations, name).to.include({ readOnlyHint: true, destructiveHint: false });
      expect(description, name).to.have.length.above(50);
      expect(outputSchema, name).to.be.an('object');
    }
    expect(reader.client.getInstructions()).to.include('--write');
    const all = (await writer.client.listTools()).tools;
    const writing = all.filter(({ annotations }) => !annotations?.readOnlyHint);
    expect(writing.map(({ name }) => name)).to.have.members([
      ...['act_on_deliveries', 'retry_issue', 'replay_events', 'cancel_replay', 'connect_provider'],
    ]);
    expect(all).to.have.lengthOf(tools.length + writing.length);
    expect(writing.filter(({ annotations }) => !annotations?.destructiveHint).map(({ name }) => name)).to.deep.equal([
      'connect_provider',
    ]);
    expect(await reader.client.callTool({ name: 'replay_events', arguments: {} }).catch(String)).to.match(/not found/i);
  });

  it('finds what failed by its cause, and shows why', async () => {
    expect(group).to.deep.include({ cause: 'HTTP_500', statuses: { failed: 2 } });
    expect(group.route).to.deep.equal({ id: route.id, name: 'Orders to the CRM' });
    expect(events).to.include(group.sample.eventId);
    const { summary, data } = await reader.call('get_delivery', { delivery: group.sample.deliveryId });
    expect(summary)
      .to.match(/to CRM: failed after 1 attempt \(.*500/)
      .and.to.include('the order table is locked');
    expect(data).to.have.nested.property('attempts[0].responseBody', 'the order table is locked');
    expect(data).to.have.nested.property('request.request.url', crm.url);
    expect(JSON.stringify(data)).to.not.include('whisper').and.to.not.include('order.paid');
    const whole = await reader.data('get_delivery', { delivery: group.sample.deliveryId, includeBody: true });
    expect(whole).to.have.nested.property('request.request.body.text').that.includes(BIG_ID);
    const other = await reader.data('list_failures', { since: '1h', source: (await makeSource(organization)).slug });
    expect(other).to.deep.include({ deliveries: 0, groups: [] });
  });

  it('shows events, their payloads when asked, and as much of them as asked', async () => {
    const [id = ''] = events;
    const { event, payload } = await reader.data('get_event', { event: id });
    expect(event).to.include({ id, sourceId: source.id });
    expect(event).to.have.nested.property('deliveries[0].destination.name', 'CRM');
    expect(payload).to.equal(null);
    const text = `{"kind":"order.paid","order":{"id":${BIG_ID}}}`;
    const asked = { event: id, includePayload: true };
    expect((await reader.data('get_event', asked)).payload).to.deep.equal({ text, size: text.length, isCut: false });
    const part = { text: '{"kind"', size: text.length, isCut: true };
    expect((await reader.data('get_event', { ...asked, payloadBytes: 7 })).payload).to.deep.equal(part);
    const found = await reader.data<{ events: { id: string }[] }>('list_events', { search: 'order.lost', since: '1h' });
    expect(found.events.map((one) => one.id)).to.deep.equal([events[1]]);
    const one = await reader.data<{ deliveries: object[]; nextCursor: string }>('list_deliveries', {
      status: ['failed'],
      limit: 1,
    });
    expect(one.deliveries).to.have.lengthOf(1);
    const rest = await reader.data<{ deliveries: object[] }>('list_deliveries', {
      status: ['failed'],
      cursor: one.nextCursor,
    });
    expect(rest).to.deep.include({ nextCursor: null }).and.to.have.property('deliveries').with.lengthOf(1);
  });

  it('tries filters, transforms and routes with an event', async () => {
    const [event] = events;
    const code = '{ "number": payload.order.id }';
    const { output } = await reader.data('try_transform', { type: 'jsonata', code, event });
    expect(output).to.deep.equal({ number: Number(BIG_ID) });
    const stored = await organization.api.create<{ slug: string }>('/api/transforms', {
      name: 'Kind',
      type: 'jsonata',
      code: 'payload.kind',
    });
    expect(await reader.data('try_transform', { transform: stored.slug, event })).to.include({ output: 'order.paid' });
    const failed = await reader.data('try_transform', {
      type: 'javascript',
      code: 'export default () => nothing()',
      event,
    });
    expect(failed).to.include({ success: false }).and.to.have.nested.property('error.message');
    expect(await reader.refusal('try_transform', { code, event })).to.match(/Pass the "type" of the code: jsonata/);
    const conditions = [{ field: 'payload.kind', operator: 'equals', value: 'order.paid' }];
    expect(await reader.data('try_filter', { conditions, event })).to.include({ matches: true });
    expect(await reader.data('try_filter', { conditions, payload: { kind: 'order.lost' } })).to.include({
      matches: false,
    });
    const wrong = [{ field: 'payload.kind', operator: 'resembles', value: 1 }];
    expect(await reader.refusal('try_filter', { conditions: wrong, event })).to.match(/operator/);
    const preview = await reader.data('preview_route', { route: 'Orders to the CRM', event });
    expect(preview).to.include({ verdict: 'taken' });
    expect(preview).to.have.nested.property('content.text').that.includes(BIG_ID);
    expect(JSON.stringify(preview)).to.not.include('whisper');
  });

  it('sends again what matches, if as many match as were counted', async () => {
    const filters = { action: 'replay', status: ['failed'], route: 'Orders to the CRM' };
    expect(await writer.refusal('act_on_deliveries', { action: 'replay' })).to.match(/Pass at least one of/);
    const counted = await writer.data<{ next: Record<string, unknown> }>('act_on_deliveries', filters);
    expect(counted).to.deep.include({ dryRun: true, count: 2 });
    expect(counted.next).to.deep.include({ ...filters, expectedCount: 2 });
    expect(await writer.refusal('act_on_deliveries', { ...counted.next, expectedCount: 3 })).to.match(/^2 /);
    expect(crm.requests).to.have.lengthOf(2);
    expect(await writer.data('act_on_deliveries', counted.next)).to.deep.equal({ dryRun: false, count: 2, changed: 2 });
    await until('both arrive', () => crm.requests.length === 4);
    expect(crm.requests[3]?.body.toString()).to.include(BIG_ID);
    // What was replayed is no longer a failure.
    expect(await writer.refusal('act_on_deliveries', { ...filters, delivery: 'dlv_x' })).to.include('delivery');
  });

  it('says what to do when a call cannot be answered', async () => {
    const delivery = 'dlv_06f3k2v8q0e7x1c5b9m4n6p8qr';
    expect(await reader.refusal('get_delivery', { delivery })).to.include('the tool list_deliveries');
    expect(await reader.refusal('list_failures', { route: 'Nowhere' })).to.include('the tool list_routes');
    expect(await reader.refusal('list_failures', { since: 'yesterday' })).to.include('30m');
    expect(await reader.refusal('list_failures', { rout: 'Orders' })).to.match(/rout/);
  });

  it('answers in a bounded size', async () => {
    const large = `{"text":"${'äé"'.replaceAll('"', '\\"').repeat(20_000)}"}`;
    const event = await ingest(organization, source, large);
    const told = await reader.call('get_event', { event, includePayload: true, payloadBytes: 16_384 });
    expect(told.size).to.be.below(50 * 1024);
    expect(told.data).to.have.nested.property('payload.isCut', true);
  });
});

describe('an answer of an MCP tool', () => {
  it('loses the ends of texts and lists, when it is too large, and keeps the digits of numbers', () => {
    const number = parseExact(BIG_ID);
    expect(bounded({ number })).to.deep.equal({ data: { number }, isCut: false });
    const items = Array.from({ length: 500 }, (_, index) => ({ index, text: 'x'.repeat(5000) }));
    const { data, isCut } = bounded({ number, items });
    expect(isCut).to.equal(true);
    expect(JSON.stringify(data))
      .to.have.length.below(24 * 1024)
      .and.to.match(/^\{"number":820982911946154509,"items":\[\{"index":0,/);
    expect(JSON.stringify(data)).to.include('… (5000 characters)');
  });
});
