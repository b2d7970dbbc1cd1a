// The address guard as a sender applies it (the guard alone: address-guard.test.ts).
import { expect } from 'chai';
import { createSender, type Sender } from '../../outbound/http/sender.ts';
import { asError, asResponse, closedAfterEach, request, resolveTo } from './senders.ts';
import { httpServer, socketServer } from './servers.ts';

describe('sender', () => {
  const open = closedAfterEach();

  describe('address guard', () => {
    const refused = async (sender: Sender, url: string, message: RegExp): Promise<void> => {
      const error = asError(await sender.send(request(url)));
      expect(error).to.include({ code: 'ADDRESS_REFUSED', retryable: false });
      expect(error.detail)
        .to.match(message)
        .and.match(/; see HOOKYARD_DELIVERY_ALLOW$/);
    };

    it('refuses every spelling of forbidden literals before it connects', async () => {
      let connections = 0;
      const port = await socketServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      const hosts = [
        '127.0.0.1',
        '[::ffff:127.0.0.1]',
        '0x7f.1',
        '0177.0.0.1',
        '2130706433',
        '１２７.０.０.１',
        '127.1',
        '[::1]',
        '0',
        '169.254.169.254',
        '[fd00:ec2::254]',
        '[64:ff9b::a9fe:a9fe]',
        '[2002:7f00:1::]',
        '168.63.129.16',
      ];
      const sender = open({ allow: ['10.0.0.0/8', '0.0.0.0/0', '::/0'] });
      for (const host of hosts) await refused(sender, `http://${host}:${port}/`, /^Refused: [0-9a-f.:]+ is /);
      expect(connections).to.equal(0);
    });

    it('says what the address is', async () => {
      await refused(open(), 'http://169.254.169.254/latest', /^Refused: 169\.254\.169\.254 is a link-local address;/);
    });

    it('refuses a name if any of its addresses is refused, whatever the order', async () => {
      for (const addresses of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::1', '93.184.216.34'], ['10.0.0.1']]) {
        const sender = open({ allow: [], resolve: resolveTo(...addresses) });
        await refused(sender, 'http://rebind.example/', /^Refused: rebind\.example resolves to \S+, which is /);
      }
    });

    it('refuses a name whose next look-up differs from the first', async () => {
      // Every connection serves one request, so that the next one looks the name up again.
      const port = await httpServer((_req, res) => res.setHeader('Connection', 'close').end('ok'));
      // 127.0.0.1 stands for a public address: the operator opened it alone.
      const answers = ['127.0.0.1', '127.0.0.2'];
      const sender = open({
        allow: ['127.0.0.1'],
        resolve: (hostname, callback) => resolveTo(answers.shift() ?? 'none')(hostname, callback),
      });
      expect(asResponse(await sender.send(request(`http://rebind.example:${port}`))).bodyText).to.equal('ok');
      await refused(sender, `http://rebind.example:${port}`, /resolves to 127\.0\.0\.2, which is a loopback address/);
      expect(answers).to.deep.equal([]);
    });

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

    it('connects to the address it checked, without a second look-up', async () => {
      let lookups = 0;
      const port = await httpServer((_req, res) => res.end('ok'));
      const sender = open({
        allow: ['127.0.0.1'],
        resolve: (hostname, callback) => {
          lookups += 1;
          resolveTo('127.0.0.1')(hostname, callback);
        },
      });
      expect(asResponse(await sender.send(request(`http://rebind.example:${port}`))).bodyText).to.equal('ok');
      expect(lookups).to.equal(1);
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

    it('refuses to start with an allow list that cannot be read', () => {
      expect(() => createSender({ allow: ['10.0.0.0/99'] })).to.throw(/HOOKYARD_DELIVERY_ALLOW: "10\.0\.0\.0\/99"/);
    });
  });
});
