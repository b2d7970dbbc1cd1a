// What every provider of the registry must do. The signer beside each is written from the provider's documentation, or
// is its own library (test/support/providers/library-signers.ts).
import { expect } from 'chai';
import { secretProblem, signAs } from '../../core/verification/index.ts';
import { type Provider, providerNamed, providers } from '../../providers/index.ts';
import { sampleOf } from '../../providers/sample.ts';
import { signers } from '../support/providers/provider-signers.ts';
import { publishedSigners } from '../support/providers/published-signers.ts';
import { NOW, testSender } from '../support/providers/sender-rules.ts';
import { ADDRESS } from '../support/providers/verified.ts';

const SIGNED_NAMES = /signature|hmac|mac$|token$|authorization|-id$|timestamp$|x-trello-webhook$/;

it('every provider of the registry has a signer', () => {
  // Those with published keys: published-keys.test.ts.
  const names = [...Object.keys(signers), ...Object.keys(publishedSigners)];
  expect(names.toSorted()).to.deep.equal(providers.map(({ name }) => name));
});

for (const [name, signer] of Object.entries(signers)) {
  describe(`webhooks of ${name}`, () => {
    const { verification, ...provider } = providerNamed(name) as Provider;
    const own = signer.secret();
    const sample = sampleOf({ verification, ...provider }, undefined, new Date(NOW));
    const { expectTaken } = testSender({
      ...signer,
      ...{ scheme: verification, own, other: signer.secret() },
      body: signer.body ? Buffer.from(signer.body) : (sample?.body as Buffer),
      headersOf: ({ headers }) => Object.keys(headers).filter((header) => SIGNED_NAMES.test(header)),
    });

    it('have a secret of the form that is asked for', () =>
      expect(secretProblem(verification, own.secret)).to.equal(null));

    it('that hookyard send signs are genuine, unless only the provider can sign', async () => {
      const { headers = {}, body = Buffer.alloc(0) } = sample ?? {};
      const contentType = headers['Content-Type'] ?? '';
      const signed = signAs(verification, own.secret, { url: ADDRESS, body, contentType, nowMs: NOW, id: 'msg_1' });
      if (verification.kind === 'public-key') return expect(signed).to.equal(null);
      const all = Object.entries({ ...headers, ...signed?.headers }).map(([its, value]) => [its.toLowerCase(), value]);
      const query = new URLSearchParams(signed?.query).toString();
      await expectTaken({ headers: Object.fromEntries(all), body: signed?.body as Buffer, query });
    });
  });
}
