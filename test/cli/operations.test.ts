import { expect } from 'chai';
import { ingest, makePipeline, makeSource } from '../support/api-records.ts';
import { jsonOf, startAlertReceiver } from '../support/messages/alert-receiver.ts';
import { useCommandLine } from '../support/programs/cli.ts';
import { useStarted } from '../support/use-hookyard.ts';

describe('a command of an operation', () => {
  const { organization, cli, fails, file } = useCommandLine();

  it('takes members as options: texts, JSON, files; and says what is missing', async () => {
    const conditions = '[{"field":"payload.kind","operator":"equals","value":"order.paid"}]';
    const made = await cli.ok('filters', 'create', 'Paid orders', '--conditions', conditions, '--logic', 'AND');
    expect(made).to.match(/^paid-orders was created \(flt_\w+\)\n$/);
    expect(await cli.ok('filters', 'list', '--search', 'paid')).to.match(/^SLUG +ID +NAME[^\n]*\npaid-orders +flt_/);
    const tried = await cli.json('filters', 'test', 'paid-orders', '--payload', '{"kind":"order.paid"}');
    expect(tried).to.include({ matches: true });
    const code = file('code.jsonata', '{ "id": payload.id }');
    await cli.ok('transforms', 'apply', 'ids', '--type', 'jsonata', '--code', `@${code}`);
    expect(await cli.json('transforms', 'show', 'ids')).to.include({ name: 'ids', code: '{ "id": payload.id }' });
    await fails(1, /nothing/, 'transforms', 'test-code', '--type', 'jsonata', '--code', '$nothing()');
    await fails(2, /^hookyard: Specify --code/, 'transforms', 'create', 'x', '--type', 'jsonata');
    await cli.ok('filters', 'delete', 'Paid orders');
    await fails(3, /hookyard filters list/, 'filters', 'show', 'paid-orders');
  });

  it('shows what there is about records, by their names', async () => {
    const { source, route, destination } = await makePipeline(organization);
    const eventId = await ingest(organization, source, '{}');
    expect(await cli.ok('destinations', 'health', destination.id)).to.match(/^status +\w+/m);
    expect(await cli.json('routes', 'statistics', route.id, '--period', '24h')).to.be.an('object');
    await fails(2, /period/, 'routes', 'statistics', route.id, '--period', 'x');
    expect(await cli.json('events', 'timeline', eventId)).to.have.property('deliveries');
    expect(await cli.json('metrics', '--metric', 'events', '--from', '1h')).to.be.an('object');
    await cli.ok('sources', 'update', source.slug, '--ingest-token', 'required');
    expect(await cli.json('sources', 'rotate-ingest-token', source.slug, '--overlap-seconds', '60')).to.be.an('object');
    expect(await cli.ok('destinations', 'update', destination.id, '--timeout-ms', '5000', '--json')).to.include('5000');
  });

  it('tries a schema on a payload and on that of an event', async () => {
    const order = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
    const test = ['schemas', 'test', `@${file('order.schema.json', JSON.stringify(order))}`];
    expect(await cli.ok(...test, '--payload', '{"id":"a"}')).to.equal('The payload is valid\n');
    const ran = await cli.run([...test, '--payload', '-'], { input: '{"id":5}' });
    expect(ran).to.include({ code: 1, stdout: '/id: must be string\n', stderr: '' });
    const eventId = await ingest(organization, await makeSource(organization), '{"id":true}');
    const ofEvent = await cli.run([...test, '--event', eventId, '--json']);
    const errors = [{ path: '/id', message: 'must be string' }];
    expect(JSON.parse(ofEvent.stdout)).to.deep.equal({ valid: false, errors });
    await fails(1, /schema is not a JSON Schema/, 'schemas', 'test', '{"type":"objekt"}', '--payload', '{}');
    await fails(2, /--payload or --event/, 'schemas', 'test', '{}');
  });
});

describe('hookyard alert-channels', () => {
  const { cli, fails, file } = useCommandLine();
  const receiver = useStarted(startAlertReceiver);

  it('makes them with an address from a file, tests, changes and deletes them', async () => {
    const to = ['--type', 'slack', '--to', `@${file('url.txt', `${receiver.url}/slack\n`)}`];
    const made = await cli.ok('alert-channels', 'create', 'Team', ...to, '--kind', 'circuit_open', '--after', '3');
    expect(made).to.match(/^Team was created \(alc_\w+\)\n$/);
    const shown = await cli.json('alert-channels', 'show', 'Team');
    expect(shown).to.deep.include({ type: 'slack', kinds: ['circuit_open'], afterCount: 3 });
    expect(shown.config).to.deep.equal({ url: '••••lack' });
    expect(await cli.ok('alert-channels', 'list')).to.match(/Team +alc_\w+ +slack/);
    expect(await cli.ok('alert-channels', 'test', 'Team')).to.match(/^The test message was sent \(\d+ ms\)\n$/);
    expect(receiver.at('/slack').map((each) => jsonOf(each).text)).to.have.lengthOf(1);
    await cli.ok('alert-channels', 'update', 'Team', '--throttle', '5', '--disable', '--data', '{"kinds":null}');
    const changed = await cli.json('alert-channels', 'show', 'Team');
    expect(changed).to.include({ throttleMinutes: 5, enabled: false, kinds: null, afterCount: 3 });
    receiver.answer('/slack', 410);
    await fails(1, /The channel returned 410/, 'alert-channels', 'test', 'Team');
    await cli.ok('alert-channels', 'delete', 'Team');
    await fails(3, /No alert channel named Team/, 'alert-channels', 'show', 'Team');
  });

  it('take the rest of their config as JSON', async () => {
    const pager = ['alert-channels', 'create', 'Pager', '--type', 'pagerduty', '--key'];
    await cli.ok(...pager, 'R0123456789ABCDEFGHIJKLMNOPQRSTU', '--data', '{"config":{"severity":"critical"}}');
    const paged = await cli.json('alert-channels', 'show', 'Pager');
    expect(paged.config).to.include({ severity: 'critical', routingKey: '••••RSTU' });
  });
});
