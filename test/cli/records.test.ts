import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { commandLine, useCommandLine } from '../support/programs/cli.ts';
import { createOrganization, testPool } from '../support/service.ts';
import { until } from '../support/until.ts';

const words = (text: string) => text.split(' ');

describe('hookyard on the command line', () => {
  const { organization, cli, fails, file } = useCommandLine();

  it('tells its version, its commands, and whose key it has', async () => {
    expect(await cli.ok('--version')).to.match(/^\d+\.\d+\.\d+\n$/);
    expect(await cli.ok('--help'))
      .to.include('listen')
      .and.to.include('Exit codes');
    expect(await cli.ok('whoami'))
      .to.include(organization.slug)
      .and.to.include('read, write');
    expect(await cli.json('whoami')).to.have.nested.property('organization.id', organization.id);
  });

  it('makes, shows, changes and deletes a source', async () => {
    expect(await cli.ok('sources', 'create', 'orders', '--name', 'Orders of the shop')).to.include(
      `/ingest/${organization.slug}/orders`,
    );
    const update = ['--verify', 'github', '--secret', 'whispered to both', '--description', 'from the shop'];
    const changed = await cli.json('sources', 'update', 'orders', ...update, '--disable');
    expect(changed).to.include({ name: 'Orders of the shop', description: 'from the shop', enabled: false });
    expect(changed).to.have.deep.property('verificationConfig', { type: 'github' });
    expect(await cli.json('sources', 'show', 'orders')).to.deep.equal(changed);
    expect(await cli.json('sources', 'update', 'orders', '--description', '')).to.include({ description: '' });
    expect(await cli.ok('sources', 'list', '--search', 'orders')).to.match(
      /^SLUG +ID +VERIFY[^\n]*\norders +src_\w+ +github +false/,
    );
    await fetch(String((await cli.json('sources', 'show', 'orders')).webhookUrl), { method: 'POST', body: 'unsigned' });
    await until('the refusal', async () => (await cli.ok('sources', 'refusals', 'orders')).includes('signature'));
    const refused = await cli.ok('sources', 'refusals', 'orders', '--cause', 'signature', '--payload');
    expect(refused).to.match(/ 401 .* unsigned\n$/);
    const others = await cli.json('sources', 'refusals', 'orders', '--cause', 'limit', '--period', '7d');
    expect(others.data).to.deep.equal([]);
    await cli.ok('sources', 'delete', 'orders');
    await fails(3, /No source named orders\. List sources with: hookyard sources list/, 'sources', 'show', 'orders');
  });

  it('makes, tests, changes and deletes a destination', async () => {
    const options = ['--header', 'X-Shop: main', '--bearer', 'whisper-whisper', '--max-retries', '2'];
    const made = await cli.json('destinations', 'create', 'CRM', 'http://127.0.0.1:9/', ...options);
    expect(made).to.deep.include({ name: 'CRM', headers: { 'X-Shop': 'main' }, authType: 'bearer' });
    expect(made).to.have.nested.property('retryPolicy.maxRetries', 2);
    await fails(1, /The test webhook failed/, 'destinations', 'test', 'CRM');
    const changed = await cli.json(...words('destinations update CRM --target-url https://crm.example/ --disable'));
    expect(changed).to.include({ id: made.id, url: 'https://crm.example/', enabled: false });
    expect(await cli.ok('destinations', 'show', 'CRM')).to.not.include('whisper');
    expect(await cli.ok('destinations', 'list')).to.include('CRM');
    await cli.ok('destinations', 'pause', 'CRM', '--reason', 'It is moved');
    expect(await cli.json('destinations', 'show', 'CRM')).to.include({ paused: true, pauseReason: 'It is moved' });
    expect(await cli.json('destinations', 'resume', 'CRM', '--rate', '5')).to.include({ id: made.id, paused: false });
    await cli.ok('destinations', 'delete', String(made.id));
    expect(await cli.json('destinations', 'list')).to.have.nested.property('pagination.total', 0);
  });

  it('declares a source, a destination and a route: the same command again changes nothing', async () => {
    const commands = [
      ['sources', 'apply', 'declared', '--verify', 'github', '--secret', 'whispered to both', '--allow-paths'],
      ['destinations', 'apply', 'declared', 'https://crm.example/', '--max-retries', '1', '--forward-query'],
      ['routes', 'apply', 'Declared', '--source', 'declared', '--to', 'declared'],
    ];
    for (const command of commands) {
      const made = await cli.json(...command);
      expect(await cli.json(...command)).to.include({ id: made.id, updatedAt: made.updatedAt });
      expect(await cli.ok(...command)).to.match(/was applied.* \((src|dst|rte)_\w+\)/);
    }
    expect(await cli.json('destinations', 'show', 'declared')).to.include({ forwardQuery: true, forwardPath: false });
    const other = await cli.json('destinations', 'apply', 'declared', 'https://crm.example/', '--forward-path');
    expect(other).to.deep.include({ forwardQuery: false, forwardPath: true });
    expect(other).to.have.nested.property('retryPolicy.maxRetries', 5);
    expect(await cli.json('sources', 'update', 'declared', '--no-allow-paths')).to.include({ allowPaths: false });
    // What is left out of a deploy script turns no verification off.
    expect(await cli.json('sources', 'apply', 'declared')).to.deep.include({ verificationConfig: { type: 'github' } });
    const open = await cli.json('sources', 'apply', 'declared', '--verify', 'none');
    expect(open).to.deep.include({ verificationConfig: { type: 'none' } });
    await fails(1, /slug /, 'sources', 'apply', 'No slug');
    await cli.ok('sources', 'delete', 'declared');
    await cli.ok('destinations', 'delete', 'declared');
  });

  it('makes, shows, changes and deletes a route by the names of what it joins', async () => {
    await cli.ok('sources', 'create', 'routed');
    const first = await cli.json('destinations', 'create', 'First', 'https://first.example/');
    const second = await cli.json('destinations', 'create', 'Second', 'https://second.example/');
    const create = words('routes create Both --source routed --to First --failover Second --data {"priority":5}');
    const made = await cli.json(...create);
    expect(made).to.deep.include({ destinationIds: [first.id], failoverDestinationIds: [second.id], priority: 5 });
    const changed = await cli.json('routes', 'update', 'Both', '--name', 'One', '--disable');
    expect(changed).to.include({ id: made.id, name: 'One', enabled: false });
    expect(await cli.json('routes', 'show', 'One')).to.deep.equal(changed);
    expect(await cli.ok('routes', 'list', '--source', 'routed', '--destination', 'First')).to.match(
      /One +rte_\w+ +routed +First/,
    );
    const until = '2999-01-01T00:00:00.000Z';
    await cli.ok('routes', 'pause', 'One', '--until', '2999-01-01');
    expect(await cli.json('routes', 'show', 'One')).to.include({ paused: true, pausedUntil: until });
    await fails(2, /--rate must be a whole number, not "fast"/, 'routes', 'resume', 'One', '--rate', 'fast');
    expect(await cli.ok('routes', 'resume', 'One')).to.match(/^One is no longer paused/);
    await cli.ok('routes', 'delete', 'One');
    await fails(3, /No route named One/, 'routes', 'show', 'One');
  });

  it('moves destinations and routes by files', async () => {
    await cli.ok('sources', 'create', 'moved');
    await cli.ok('destinations', 'create', 'Moved', 'https://moved.example/', '--bearer', 'whisper-whisper');
    // Numbers of conditions keep the digits that a double does not hold.
    const condition = '{"field":"payload.id","operator":"equals","value":820982911946154509}';
    const data = `{"filterConditions":[${condition}]}`;
    await cli.ok('routes', 'create', 'Moved', '--source', 'moved', '--to', 'Moved', '--data', data);
    const moved = await cli.json<{ data: { id: string }[] }>('destinations', 'list', '--search', 'Moved');
    const exported = file('destinations.json', '');
    const sensitive = ['--ids', moved.data[0]?.id ?? '', '--include-sensitive', '-o', exported];
    expect(await cli.ok('export', 'destinations', ...sensitive)).to.match(/^Exported 1 destination to /);
    expect(await cli.ok('export', 'destinations'))
      .to.include('***REDACTED***')
      .and.not.to.include('whisper-whisper');
    const routes = await cli.ok('export', 'routes');
    expect(routes).to.include('820982911946154509');

    const other = commandLine(await createOrganization());
    await other.ok('sources', 'create', 'moved');
    const refused = await other.run(['import', 'routes', '-', '--on-conflict', 'skip'], { input: routes });
    expect([refused.code, refused.stdout]).to.deep.equal([1, 'imported 0, skipped 0, overwritten 0, failed 1\n']);
    expect(refused.stderr).to.match(/^error: .*moved/m);
    const dryRun = ['import', 'destinations', exported, '--on-conflict', 'skip', '--dry-run'];
    expect(await other.ok(...dryRun)).to.match(/^would import 1,/);
    expect(await other.json('destinations', 'list')).to.have.nested.property('pagination.total', 0);
    expect(await other.ok('import', 'destinations', exported, '--on-conflict', 'skip')).to.match(/^imported 1,/);
    const overwritten = await other.json('import', 'destinations', exported, '--on-conflict', 'overwrite');
    expect(overwritten).to.have.nested.property('summary.overwritten', 1);
    const taken = await other.run(['import', 'routes', '-', '--on-conflict', 'rename', '--json'], { input: routes });
    expect(JSON.parse(taken.stdout), taken.stderr).to.include({ imported: 1 });
    expect(await other.ok('routes', 'show', 'Moved', '--json')).to.include('820982911946154509');
    await fails(2, /contains no routes/, 'import', 'routes', exported, '--on-conflict', 'skip');
  });

  it('makes keys that are shown once, and revokes them', async () => {
    const made = await cli.run(['keys', 'create', 'Reader', '--scope', 'read', '--expires', '2036-01-01']);
    const token = made.stdout.trim();
    expect(token, made.stderr).to.match(/^whr_[\w-]+/);
    const reader = commandLine({ ...organization, token });
    expect(await reader.ok('keys', 'list'))
      .to.include('Reader')
      .and.not.to.include(token);
    const refused = await reader.run(['sources', 'create', 'nothing']);
    expect([refused.code, refused.stdout]).to.deep.equal([4, '']);
    const { data } = await cli.json<{ data: { id: string; name: string }[] }>('keys', 'list');
    await cli.ok('keys', 'revoke', data.find(({ name }) => name === 'Reader')?.id ?? '');
    const revoked = await reader.run(['whoami']);
    expect([revoked.code, revoked.stderr.includes('HOOKYARD_API_KEY')]).to.deep.equal([4, true]);
  });

  it('makes an organization on the database, with a key that works', async () => {
    const slug = `made-${organization.slug}`;
    const made = await cli.run(['orgs', 'create', 'Made here', '--slug', slug, '--plan', 'pro']);
    expect(made.code, made.stderr).to.equal(0);
    const caller = await commandLine({ ...organization, token: made.stdout.trim() }).json('whoami');
    expect(caller).to.have.property('organization').that.includes({ name: 'Made here', slug, plan: 'pro' });
    const { rows } = await testPool().query('select plan from organizations where slug = $1', [slug]);
    expect(rows).to.deep.equal([{ plan: 'pro' }]);
    await fails(1, /with this slug already/, 'orgs', 'create', 'Made again', '--slug', slug);
    await fails(1, /Invalid slug "Not A Slug"/, 'orgs', 'create', 'Made badly', '--slug', 'Not A Slug');
    const folder = dirname(file('empty', ''));
    const env = { DATABASE_URL: undefined, HOOKYARD_DATA_DIR: folder };
    const none = await cli.run(['orgs', 'create', 'x', '--slug', 'x'], { env });
    expect([none.code, none.stderr.includes(folder)]).to.deep.equal([5, true]);
  });

  it('takes the key from an option, and from the data folder for a service of this machine', async () => {
    const folder = dirname(file('empty', ''));
    mkdirSync(join(folder, 'keys'));
    writeFileSync(join(folder, 'keys', 'api-key'), `${organization.token}\n`);
    const env = { HOOKYARD_API_KEY: undefined, HOOKYARD_DATA_DIR: folder };
    const byFile = await cli.run(['whoami'], { env });
    expect(byFile.code, byFile.stderr).to.equal(0);
    const wrong = { env: { HOOKYARD_API_KEY: 'whr_wrong' } };
    const byOption = await cli.run(['whoami', '--api-key', organization.token], wrong);
    expect(byOption.code, byOption.stderr).to.equal(0);
    const publicUrl = { HOOKYARD_URL: undefined, HOOKYARD_PUBLIC_URL: organization.api.url };
    const byPublicUrl = await cli.run(['whoami'], { env: { ...env, ...publicUrl } });
    expect(byPublicUrl.code, byPublicUrl.stderr).to.equal(0);
  });

  it('ends with a code that says what kind of failure it was, and a line that says where', async () => {
    const broken = file('broken.json', '{"name":}');
    const id = '06f3k2v8q0e7x1c5b9m4n6p8qr';
    const cases: [code: number, told: RegExp, command: string][] = [
      [1, /^hookyard: slug /, 'sources create NotASlug'],
      [2, /'frob'/, 'frob'],
      [2, /--page /, 'sources list --page x'],
      [2, /--from must be .*1h/, 'events list --from 1x'],
      [2, /--from must be .*1h/, 'listen 0 --source x --from 1x'],
      [2, /--rate .*1 to 100/, 'deliveries cancel-all --status retrying --rate=0'],
      [2, /--rate .*1 to 100/, 'deliveries cancel-all --status retrying --rate=101'],
      [2, /broken\.json is not JSON/, `sources create x --data @${broken}`],
      [2, /--data - is empty/, 'sources create x --data -'],
      [2, /broken\.json is not JSON/, `import routes ${broken} --on-conflict skip`],
      [2, /--on-conflict/, 'import routes x'],
      [2, /does-not-exist/, 'import routes does-not-exist --on-conflict skip'],
      [2, /http/, 'whoami --url localhost:3000'],
      [3, /hookyard events list/, `events show evt_${id}`],
      [3, /hookyard deliveries list/, `deliveries retry dlv_${id}`],
      [5, /--url or HOOKYARD_URL/, 'whoami --url http://127.0.0.1:9 --timeout 1'],
    ];
    for (const [code, told, command] of cases) await fails(code, told, ...words(command));
    await fails(2, /--route is empty/, ...words('deliveries cancel-all --status retrying --route'), '');
    await fails(2, /--destination is empty/, ...words('events replay --all --destination CRM --destination'), '');
    await fails(2, /<route> is empty/, 'routes', 'delete', '');
    await fails(2, /--data is not JSON: .*single quotes/, 'sources', 'create', 'x', '--data', '{\nname');
    const told = JSON.parse(await fails(1, /./, 'sources', 'create', 'Not A Slug', '--json'));
    expect(told.error).to.include({ status: 400, code: 'INVALID_SLUG' });
    expect(told.error.requestId).to.match(/^req_/);
  });
});
