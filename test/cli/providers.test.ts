// hookyard providers, and what send signs for a source with a provider.
import { expect } from 'chai';
import { type CommandLine, commandLine } from '../support/cli.ts';
import { signers } from '../support/provider-signers.ts';
import { publishedSigners } from '../support/published-signers.ts';
import { createOrganization } from '../support/service.ts';

describe('hookyard providers @turns', () => {
  let cli: CommandLine;
  before(async () => {
    cli = commandLine(await createOrganization());
  });
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

  it('say who alone can sign', async () => {
    const secret = secretOf('discord');
    await cli.ok('sources', 'create', 'chat', '--provider', 'discord', '--secret', secret);
    const sent = await cli.run(['send', '--source', 'chat', '--secret', secret]);
    expect([sent.code, sent.stderr]).to.deep.equal([
      2,
      'hookyard: Discord signs with a private key, which nobody else has: let it send a test of its own\n',
    ]);
  });
});
