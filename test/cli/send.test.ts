// hookyard send: what it signs is what sources of each kind accept.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type CommandLine, commandLine } from '../support/programs/cli.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const SECRET = 'whsec_whispered_on';

describe('hookyard send', () => {
  const organization = useOrganization();
  let cli: CommandLine;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hookyard-send-'));
    cli = commandLine(organization);
  });
  after(() => rmSync(folder, { recursive: true }));

  const hmac = JSON.stringify({
    verificationConfig: {
      type: 'hmac',
      secret: SECRET,
      header: 'X-Shop-Signature',
      algorithm: 'sha512',
      encoding: 'base64',
      prefix: 'v1=',
    },
  });
  const signed: [type: string, create: string[], event: string, path: string][] = [
    ['github', ['--verify', 'github', '--secret', SECRET], 'pull_request', 'pull_request.number'],
    ['stripe', ['--verify', 'stripe', '--secret', SECRET], 'invoice.paid', 'data.object.amount_paid'],
    ['slack', ['--verify', 'slack', '--secret', SECRET], 'message', 'event.text'],
    ['hmac', ['--data', hmac], 'order.paid', 'order.number'],
    [
      'hmac-timed',
      [
        ...['--verify', 'hmac', '--secret', SECRET, '--signature-header', 'X-Shop-Signature'],
        ...['--data', '{"verificationConfig": {"timestampHeader": "X-Shop-Time", "timestampSeparator": ":"}}'],
      ],
      ...(['order.paid', 'order.number'] as const),
    ],
  ];
  for (const [type, create, event, path] of signed) {
    it(`signs events of ${type} as the source asks for`, async () => {
      await cli.ok('sources', 'create', type, ...create);
      const send = ['send', '--source', type, '--event', event];
      const eventId = (await cli.ok(...send, '--secret', SECRET)).trim();
      expect(await cli.json('events', 'show', eventId)).to.have.nested.property(`payload.${path}`);
      const wrong = await cli.run([...send, '--secret', 'another']);
      expect([wrong.code, wrong.stdout]).to.deep.equal([4, '']);
      expect(wrong.stderr).to.include('--secret (or --private-key) and --provider must be those of the source');
      const without = await cli.run(send);
      expect([without.code, without.stderr]).to.deep.equal([
        2,
        `hookyard: ${type} verifies ${type.split('-')[0]} signatures: give its secret with --secret (@file reads it from a file)\n`,
      ]);
    });
  }

  const described: [type: string, config: object][] = [
    [
      'hmac_template',
      {
        ...{ header: 'X-Mac', template: '{method} {url} {id}.{timestamp}.{body}', idHeader: 'X-Id' },
        ...{ signaturePart: 'v1', timestampPart: 't' },
      },
    ],
    ['jwt', { algorithm: 'HS256', audience: 'urn:shop', claims: { shop: 'one' }, bodyHashClaim: 'hash' }],
    ['header_token', { header: 'X-Token', prefix: 'Token ' }],
    ['query_token', { parameter: 'key' }],
    ['body_token', { path: '$.auth.token' }],
  ];
  for (const [type, config] of described) {
    it(`signs as the owner of the source describes it: ${type}`, async () => {
      const slug = type.replaceAll('_', '-');
      const data = JSON.stringify({ verificationConfig: config });
      await cli.ok('sources', 'create', slug, '--verify', type, '--secret', SECRET, '--data', data);
      const eventId = (await cli.ok('send', '--source', slug, '--event', 'order.created', '--secret', SECRET)).trim();
      expect(await cli.json('events', 'show', eventId)).to.have.nested.property('payload.kind', 'order.created');
      const wrong = ['send', '--source', slug, '--secret', 'another secret of many letters'];
      expect(await cli.run(wrong)).to.include({ code: 4 });
      expect(await cli.run(['send', '--source', slug])).to.include({ code: 2 });
      expect(await cli.run(['send', '--source', slug, '--provider', 'github'])).to.include({ code: 2 });
    });
  }

  it('says why it cannot sign by keys that the sender publishes', async () => {
    const config = { type: 'jwt', jwksUrl: 'https://issuer.example.com/keys', audience: 'urn:shop' };
    await cli.ok('sources', 'create', 'published', '--data', JSON.stringify({ verificationConfig: config }));
    const refused = await cli.run(['send', '--source', 'published']);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.match(/signs with keys that it alone has.*hookyard send --source test\n$/);
  });

  it('sends a body of yours, from stdin too, byte by byte', async () => {
    await cli.ok('sources', 'create', 'plain');
    const body = '  {"order" : 820982911946154509}\n';
    const sent = await cli.run(['send', '--source', 'plain', '--data', '-', '--json'], { input: body });
    expect(sent.code, sent.stderr).to.equal(0);
    const { eventId } = JSON.parse(sent.stdout);
    expect(await cli.ok('events', 'show', eventId, '--raw')).to.equal(body);
    expect(await cli.ok('events', 'show', eventId)).to.include('"order": 820982911946154509');
    expect(await cli.ok('events', 'list', '--source', 'plain')).to.match(new RegExp(`${eventId} +plain +not routed`));
    expect(await cli.ok('events', 'list', '--routed=false')).to.include(eventId);
    expect(await cli.ok('events', 'list', '--routed', 'true')).not.to.include(eventId);
    expect(await cli.run(['events', 'list', '--routed', 'no'])).to.include({ code: 2 });
    expect(await cli.ok('send', '--source', 'plain', '--watch')).to.match(/has no route that takes it/);
    const bytes = Buffer.from([0x1f, 0x8b, 0xff, 0x00, 0xfe, 0x80]);
    const file = join(folder, 'body.gz');
    writeFileSync(file, bytes);
    const binary = (await cli.ok('send', '--source', 'plain', '--data', `@${file}`)).trim();
    const path = `${organization.base}/events/${binary}/payload`;
    const headers = { Authorization: `Bearer ${organization.token}` };
    const answer = await fetch(`${organization.api.url}${path}`, { headers });
    expect(Buffer.from(await answer.arrayBuffer()).toString('hex')).to.equal(bytes.toString('hex'));
    const empty = (await cli.ok('send', '--source', 'plain', '--data', '')).trim();
    expect(await cli.json('events', 'show', empty)).to.include({ payload: '', payloadSize: 0 });
  });

  it('refuses an event that there is no sample of, and names those that there are', async () => {
    await cli.ok('sources', 'create', 'asked');
    const known: [provider: string, names: string][] = [
      ['github', 'of github; known are push, pull_request, issues, ping'],
      ['stripe', 'of stripe; known are payment_intent.succeeded, '],
      [
        'plain',
        'nonsense; known are order.paid, order.created, order.cancelled. --data sends a body of yours under any name',
      ],
    ];
    for (const [provider, names] of known) {
      const refused = await cli.run(['send', '--source', 'asked', '--provider', provider, '--event', 'nonsense']);
      expect([refused.code, refused.stdout]).to.deep.equal([2, '']);
      expect(refused.stderr)
        .to.match(/^hookyard: There is no sample of an event nonsense/)
        .and.to.include(names);
    }
    expect(await cli.json('events', 'list', '--source', 'asked')).to.have.nested.property('pagination.total', 0);
    const event = ['--provider', 'github', '--event', 'deployment', '--data', '{}'];
    const sent = await cli.ok('send', '--source', 'asked', ...event);
    expect(await cli.json('events', 'show', sent.trim())).to.have.nested.property(
      'headers.x-github-event',
      'deployment',
    );
  });

  it('needs to see the token of an address only where the source demands it', async () => {
    await cli.ok('sources', 'create', 'tokened', '--data', JSON.stringify({ ingestToken: 'optional' }));
    const scopes = ['read'];
    const { token } = await organization.api.create<{ token: string }>('/api/api-keys', { name: 'Reader', scopes });
    const reader = commandLine({ api: organization.api, token });
    expect(await reader.ok('send', '--source', 'tokened')).to.match(/^evt_/);
    await cli.ok('sources', 'update', 'tokened', '--data', JSON.stringify({ ingestToken: 'required' }));
    const refused = await reader.run(['send', '--source', 'tokened']);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.include('sources:write or secrets:read');
    expect(await cli.ok('send', '--source', 'tokened')).to.match(/^evt_/);
  });

  it('says that a source is disabled', async () => {
    await cli.ok('sources', 'create', 'closed', '--disable');
    const refused = await cli.run(['send', '--source', 'closed']);
    expect([refused.code, refused.stderr]).to.satisfy(
      ([code, line]: [number, string]) => code === 1 && /--enable opens it/.test(line),
    );
  });

  it('prints what a sender chose without obeying it', async () => {
    const { eventId } = await cli.json<{ eventId: string }>('send', '--source', 'plain', '--data', 'a\u001b[2J\u0007b');
    const shown = await cli.ok('events', 'show', eventId);
    const characters = Array.from(shown, (character) => character.codePointAt(0));
    expect(shown).to.include('ab');
    expect(characters).not.to.include(0x1b).and.not.to.include(0x07);
  });
});
