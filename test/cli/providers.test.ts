// hookyard providers, and what send signs for a source with a provider.
import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandLine, commandLine } from '../support/programs/cli.ts';
import { signers } from '../support/providers/provider-signers.ts';
import { publishedSigners } from '../support/providers/published-signers.ts';
import { createOrganization } from '../support/service.ts';

describe('hookyard providers', () => {
  let cli: CommandLine;
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-keys-'));
  before(async () => {
    cli = commandLine(await createOrganization());
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const secretOf = (name: string) => signers[name]?.secret().secret ?? '';

  it('lists them, and says how one is connected', async () => {
    const list = await cli.ok('providers');
    for (const name of Object.keys({ ...signers, ...publishedSigners }))
      expect(list).to.match(new RegExp(`^${name} `, 'm'));
    expect(await cli.ok('providers', 'meta')).to.include('--verify-token: a verify token of your own');
    const stripe = await cli.json<{ name: string; samples: string[] }>('providers', 'stripe');
    expect(stripe.name).to.equal('stripe');
    expect(stripe.samples).to.include.members(['payment_intent.succeeded', 'invoice.paid']);
    expect(await cli.run(['providers', 'nobody'])).to.include({ code: 2 });
  });

  for (const name of [
    'stripe',
    'openai',
    'postmark',
    'gitlab',
    'azure-event-grid',
    'microsoft-graph',
    'mailgun',
    'monday',
    'square',
  ]) {
    it(`make sources that take what send signs for ${name}`, async () => {
      const secret = secretOf(name);
      await cli.ok('sources', 'create', name, '--provider', name, '--secret', secret);
      const eventId = (await cli.ok('send', '--source', name, '--secret', secret)).trim();
      expect(eventId).to.match(/^evt_/);
      expect(await cli.ok('sources', 'list')).to.match(new RegExp(`^${name} .* ${name} `, 'm'));
      expect(await cli.run(['send', '--source', name, '--secret', secretOf(name)])).to.include({ code: 4 });
      expect(await cli.run(['send', '--source', name])).to.include({ code: 2 });
      expect(await cli.run(['send', '--source', name, '--secret', secret, '--event', 'nothing'])).to.include({
        code: 2,
      });
    });
  }

  it('show the answer of a source that has its own', async () => {
    const secret = secretOf('twilio');
    await cli.ok('sources', 'create', 'phone', '--provider', 'twilio', '--secret', secret);
    expect(await cli.ok('send', '--source', 'phone', '--secret', secret)).to.equal('answered 200: <Response/>\n');
  });

  it('make sources whose subscriptions are confirmed', async () => {
    const secret = 'arn:aws:sns:eu-central-1:123456789012:orders';
    const create = ['sources', 'create', 'topic', '--secret', secret, '--confirm-subscriptions'];
    expect(await cli.run(create)).to.include({ code: 2 });
    await cli.ok(...create, '--provider', 'aws-sns');
    const { verificationConfig } = await cli.json('sources', 'show', 'topic');
    expect(verificationConfig).to.deep.equal({ type: 'provider', confirmSubscriptions: true });
    expect(await cli.run(['send', '--source', 'topic', '--secret', secret])).to.include({ code: 2 });
  });

  /** A pair of keys in files. */
  function keyFiles(type: 'ed25519' | 'ec') {
    const { publicKey, privateKey } =
      type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' }) : generateKeyPairSync('ed25519');
    const [ofPublic, ofPrivate] = [join(folder, `${type}-public.pem`), join(folder, `${type}-private.pem`)];
    writeFileSync(ofPublic, publicKey.export({ format: 'pem', type: 'spki' }));
    writeFileSync(ofPrivate, privateKey.export({ format: 'pem', type: 'pkcs8' }));
    return { ofPublic, ofPrivate };
  }

  for (const [name, type, other] of [
    ['discord', 'ed25519', 'ec'],
    ['sendgrid', 'ec', 'ed25519'],
  ] as const) {
    it(`make sources of ${name} that take what send signs with a private key of yours`, async () => {
      const { ofPublic, ofPrivate } = keyFiles(type);
      await cli.ok('sources', 'create', name, '--provider', name, '--secret', `@${ofPublic}`);
      const send = ['send', '--source', name];
      // Discord gets an answer without content.
      expect(await cli.ok(...send, '--private-key', ofPrivate)).to.match(
        name === 'discord' ? /^answered 204$/m : /^evt_/,
      );
      expect(await cli.ok('events', 'list', '--source', name)).to.match(/^evt_/m);
      const without = await cli.run([...send, '--secret', secretOf(name)]);
      expect(without.code).to.equal(2);
      expect(without.stderr).to.match(new RegExp(`signs with a private key.*--provider ${name}.*--private-key`));
      const wrong = await cli.run([...send, '--private-key', keyFiles(other).ofPrivate]);
      expect([wrong.code, wrong.stderr]).to.satisfy(
        ([code, text]: [number, string]) => code === 2 && /another kind.*openssl genpkey/.test(text),
      );
      expect(await cli.run([...send, '--private-key', ofPublic])).to.include({ code: 2 });
      expect(await cli.run([...send, '--private-key', keyFiles(type).ofPrivate]), 'of another pair').to.include({
        code: 4,
      });
    });
  }

  it('say who alone can sign, and how to try its samples all the same', async () => {
    await cli.ok('sources', 'create', 'open');
    for (const [name, signer] of Object.entries(publishedSigners)) {
      const secret = signer.secret();
      await cli.ok('sources', 'create', name, '--provider', name, '--secret', secret);
      const sent = await cli.run(['send', '--source', name, '--secret', secret]);
      expect(sent.code, name).to.equal(2);
      expect(sent.stderr)
        .to.match(/signs with keys that it alone has/)
        .and.include(`hookyard send --source test --provider ${name}`);
      expect(await cli.ok('send', '--source', 'open', '--provider', name), name).to.match(/^evt_/);
    }
    const unknown = await cli.run(['send', '--source', 'open', '--provider', 'plaid', '--event', 'nothing']);
    expect(unknown.stderr).to.include('There is no sample of an event nothing of plaid');
  });
});
