import { expect } from 'chai';
import { pino } from 'pino';
import { freePorts } from '../../local/ports.ts';
import { type Listener, startListener } from '../../telemetry/listener.ts';
import { listeningPorts } from '../support/servers/listening.ts';
import { sharedService, startService } from '../support/service.ts';

describe('the port for metrics', () => {
  let listener: Listener;
  let url = '';
  let asked = 0;
  let gate = Promise.withResolvers<void>();
  before(async () => {
    const [port = 0] = await freePorts(1);
    url = `http://127.0.0.1:${port}`;
    listener = await startListener({
      host: '127.0.0.1',
      port,
      pages: {
        '/metrics': async () => {
          asked += 1;
          await gate.promise;
          return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: `${asked}` };
        },
        '/broken': () => Promise.reject(new Error('a secret')),
      },
      log: pino({ level: 'silent' }),
    });
  });
  after(() => listener.close());

  it('asks once for all who ask at the same time', async () => {
    const answers = Array.from({ length: 20 }, () => fetch(`${url}/metrics`).then((answer) => answer.text()));
    gate.resolve();
    expect(new Set(await Promise.all(answers))).to.deep.equal(new Set(['1']));
    gate = Promise.withResolvers();
    gate.resolve();
  });

  it('is none with OTEL_EXPORTER_PROMETHEUS_PORT=0: the API listens on its own port only, and the worker on none', async function () {
    // As all processes of tests have it.
    const [api, worker] = await Promise.all([sharedService('api'), startService('worker')]);
    const ports = [api, worker].map(({ pid }) => listeningPorts(pid));
    await worker.stop();
    if (ports[0] === null) return this.skip();
    expect(ports).to.deep.equal([[Number(new URL(api.url).port)], []]);
  });

  it('says nothing of what went wrong, and nothing to what it does not have', async () => {
    const broken = await fetch(`${url}/broken`);
    expect([broken.status, await broken.text()]).to.deep.equal([500, 'Internal error\n']);
    for (const path of ['/', '/metrics/', '/__proto__', '/constructor']) {
      expect((await fetch(url + path)).status, path).to.equal(404);
    }
    expect((await fetch(`${url}/metrics`, { method: 'DELETE' })).status).to.equal(405);
    expect((await fetch(`${url}/metrics?name=x`)).status, 'with a query').to.equal(200);
  });
});
