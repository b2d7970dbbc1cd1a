// The address guard as a sender applies it. The guard alone: address-guard.test.ts; spellings, names with several
// addresses: test/security/outbound.test.ts.
import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { LOOPBACK_FOR_ONE } from '../../core/http/addresses.ts';
import { currentAllowList, parseAllowList, refusalOf } from '../../outbound/http/address-guard.ts';
import type { Sender } from '../../outbound/http/sender.ts';
import { asError, asResponse, closedAfterEach, request, resolveTo } from './senders.ts';
import { httpServer } from './servers.ts';

describe('sender', () => {
  const open = closedAfterEach();

  describe('address guard', () => {
    const refused = async (sender: Sender, url: string, message: RegExp) => {
      const error = asError(await sender.send(request(url)));
      expect(error).to.include({ code: 'ADDRESS_REFUSED', retryable: false });
      expect(error.detail)
        .to.match(message)
        .and.match(/; see HOOKYARD_DELIVERY_ALLOW$/);
      return error;
    };

    it('judges the address that the socket really has: 0.0.0.0 leads to this machine', async () => {
      let requests = 0;
      const port = await httpServer((_req, res) => {
        requests += 1;
        res.end();
      });
      const sender = open({ allow: ['0.0.0.0'] });
      await refused(sender, `http://0.0.0.0:${port}`, /127\.0\.0\.1, which is a loopback address/);
      expect(requests).to.equal(0);
    });

    describe('knows the addresses of this machine,', () => {
      const [open4, open6, near] = ['93.184.216.34', '2606:2800:220:1::1', '10.1.2.3'];
      const isOfThisMachine = (address: string) => [open4, open6, near].includes(address);
      const message = /, which is an address of this machine;|^Refused: \S+ is an address of this machine;/;

      it('which are refused like loopback, whatever range is open', async () => {
        const allow = ['10.0.0.0/8', '0.0.0.0/0', '::/0', '.example'];
        const sender = open({ allow, isOfThisMachine, resolve: resolveTo(near) });
        for (const host of [open4, `[${open6}]`, `[::ffff:${open4}]`, `[64:ff9b::${open4}]`, near, 'own.example'])
          await refused(sender, `http://${host}:1/`, message);
      });

      it('which an exact entry opens', () => {
        for (const entry of [near, 'own.example']) {
          expect(refusalOf(near, 'own.example', parseAllowList([entry]), isOfThisMachine), entry).to.equal(null);
        }
      });

      it('which are open where loopback is, while there is one organization', () => {
        let several = false;
        const allow = currentAllowList([LOOPBACK_FOR_ONE], () => several);
        for (const address of [open4, open6, near]) {
          several = false;
          expect(refusalOf(address, 'own.example', allow(), isOfThisMachine), address).to.equal(null);
          several = true;
          expect(refusalOf(address, 'own.example', allow(), isOfThisMachine), address).to.be.a('string');
        }
      });

      it('where webhooks may come in again', async () => {
        const publicUrl = () => 'http://own.example:1';
        const sender = open({ allow: ['10.0.0.0/8'], publicUrl, isOfThisMachine, resolve: resolveTo(near) });
        await refused(sender, 'http://own.example:1/api', message);
        const again = await sender.send(request('http://own.example:1/ingest/a/b', { timeoutMs: 300 }));
        expect(again).to.not.include({ code: 'ADDRESS_REFUSED' });
      });

      it('as the system tells them', () => {
        for (const { address } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
          const allow = parseAllowList(['0.0.0.0/0', '::/0']);
          expect(refusalOf(address, 'receiver.example', allow), address).to.be.a('string');
          expect(refusalOf(address, 'receiver.example', parseAllowList([address])), address).to.equal(null);
        }
      });
    });

    it('lets an exact entry through, by the address and by the name', async () => {
      const port = await httpServer((_req, res) => res.end('ok'));
      for (const [allow, host] of [
        ['127.0.0.1', '127.0.0.1'],
        ['127.0.0.1', '[::ffff:127.0.0.1]'],
        ['localhost', 'localhost'],
        ['localhost', 'LOCALHOST.'],
      ] as const) {
        const sender = open({ allow: [allow], resolve: resolveTo('127.0.0.1') });
        expect(asResponse(await sender.send(request(`http://${host}:${port}`))).bodyText, host).to.equal('ok');
      }
    });
  });
});
