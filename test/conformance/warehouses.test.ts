// What every object store must do, run against real servers. A provider is a row in
// test/support/warehouse/warehouse-targets.ts.
import { createHash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { createWarehouses, type StoreResult } from '../../outbound/warehouses/index.ts';
import { NotStoredError, openObject, PART_BYTES } from '../../outbound/warehouses/files.ts';
import type { StoredObject } from '../../outbound/warehouses/store.ts';
import { freePorts } from '../../local/ports.ts';
import { closeAll, httpServer } from '../http/servers.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-hookyard.ts';
import { useStore } from '../support/warehouse/warehouse-instance.ts';
import { readObjects } from '../support/warehouse/warehouse-objects.ts';
import { failed, providerCases, targetOf } from '../support/warehouse/warehouse-targets.ts';

const DEADLINE_MS = 30_000;
const SHORT_MS = 500;

function object(key: string, body: Buffer | string = '{"a":1}\n'): StoredObject {
  const bytes = Buffer.from(body);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { key, body: bytes, contentType: 'application/x-ndjson', metadata: { count: '1', sha256 } };
}

function succeeded<T>(result: StoreResult<T>): T {
  if (!result.ok) throw new Error(`${result.kind}: ${result.detail}`);
  return result.value;
}

for (const provider of providerCases) {
  describe(`object store: ${provider.name}`, () => {
    const server = useStore(provider);
    const warehouses = useStarted(async () => createWarehouses({ allow: ['127.0.0.1'] }));
    afterEach(closeAll);

    const put = (written: StoredObject, changes?: Record<string, unknown>) =>
      warehouses.put(targetOf(provider, server.url, changes), written, DEADLINE_MS);
    const head = (key: string) => warehouses.head(targetOf(provider, server.url), key, DEADLINE_MS);

    it('writes an object and knows its size, content type and metadata', async () => {
      const written = object('prefix/date=2026-11-21/20261121T154510123Z-bat_1.jsonl');
      expect(succeeded(await put(written))).to.deep.equal({ key: written.key, size: written.body.length });
      const { contentType, metadata } = written;
      expect(succeeded(await head(written.key))).to.deep.equal({ size: written.body.length, contentType, metadata });
    });

    it('knows that an object is not there', async () => {
      expect(succeeded(await head('nothing/here.jsonl'))).to.equal(null);
    });

    it('replaces an object of the same key, by the same bytes as by others', async () => {
      for (const body of ['{"a":1}\n', '{"a":1}\n', '{"a":1}\n{"b":2}\n']) {
        const written = object('again.jsonl', body);
        succeeded(await put(written));
        expect(succeeded(await head('again.jsonl'))).to.deep.include({ size: body.length, metadata: written.metadata });
      }
    });

    for (const key of [
      'with space/and+plus.jsonl',
      'ümläut/日本.jsonl',
      "q?a=1&b='#%25;,@$!*().jsonl",
      'source=a/date=b=c.jsonl',
    ]) {
      it(`writes the key ${key}`, async () => {
        succeeded(await put(object(key)));
        expect(succeeded(await head(key))).to.include({ size: object(key).body.length });
        expect(succeeded(await head(encodeURIComponent(key)))).to.equal(null);
      });
    }

    it('writes 5 MiB', async () => {
      const written = object('large.jsonl', randomBytes(5 * 1024 * 1024));
      expect(succeeded(await put(written)).size).to.equal(written.body.length);
      expect(succeeded(await head(written.key))).to.deep.include({
        size: written.body.length,
        metadata: written.metadata,
      });
    });

    const writer = (key: string, changes?: Record<string, unknown>) =>
      openObject(warehouses, targetOf(provider, server.url, changes), {
        ...{ key, contentType: 'application/x-ndjson', timeoutMs: DEADLINE_MS },
      });
    const large = randomBytes(2.5 * PART_BYTES);

    it('writes what is large in parts, which are there at once when it is complete', async () => {
      const key = 'parts/large file+1.jsonl';
      for (const body of [large, large.subarray(1), large.subarray(0, 2 * PART_BYTES), Buffer.from('small')]) {
        const before = await readObjects(provider, server.url, 'parts/');
        const parts = writer(key);
        for (let from = 0; from < body.length; from += 3_000_000)
          await parts.write(body.subarray(from, from + 3_000_000));
        expect((await readObjects(provider, server.url, 'parts/')).map(({ body: kept }) => kept)).to.deep.equal(
          before.map(({ body: kept }) => kept),
        );
        const sha256 = createHash('sha256').update(body).digest('hex');
        expect(await parts.end(7)).to.deep.equal({ key, size: body.length, sha256 });
        const [object, ...others] = await readObjects(provider, server.url, 'parts/');
        expect(others).to.deep.equal([]);
        expect(object).to.include({ key, contentType: 'application/x-ndjson' });
        expect(object?.body.equals(body)).to.equal(true);
        const isWhole = body.length <= PART_BYTES || provider.type === 'azure_blob';
        expect(object?.metadata ?? {}).to.deep.equal(isWhole ? { count: '7', sha256 } : {});
        await parts.abort();
      }
    });

    it('leaves nothing of parts that were not completed', async () => {
      const parts = writer('aborted/file.jsonl');
      await parts.write(large);
      await parts.abort();
      expect(await readObjects(provider, server.url, 'aborted/')).to.deep.equal([]);
      expect(await provider.unfinished?.(server.url)).to.be.oneOf([undefined, 0]);
    });

    it('says of parts, too, that there is no such bucket', async () => {
      const parts = writer('parts.jsonl', provider.noBucket);
      let error: unknown;
      try {
        await parts.write(large);
        await parts.end(1);
      } catch (thrown) {
        error = thrown;
      } finally {
        await parts.abort();
      }
      expect(error).to.be.instanceOf(NotStoredError);
      expect((error as NotStoredError).problem).to.include({ kind: 'no_bucket', retryable: false });
    });

    it('says that there is no such bucket', async () => {
      const problem = failed(await put(object('a.jsonl'), provider.noBucket));
      expect(problem).to.include({ kind: 'no_bucket', retryable: false });
      expect(problem.detail)
        .to.contain(Object.values(provider.noBucket)[0])
        .and.to.match(/does not exist; create it/);
    });

    for (const wrong of provider.wrongCredentials) {
      it(`says that the credentials are wrong: ${Object.keys(wrong)}`, async () => {
        const problem = failed(await put(object('a.jsonl'), wrong));
        expect(problem.kind).to.be.oneOf(['credentials', 'permission']);
        expect(problem.retryable).to.equal(false);
        expect(problem.detail).to.contain(Object.keys(wrong)[0]).and.not.to.contain(Object.values(wrong)[0]);
      });
    }

    if (provider.type === 's3') {
      it('says that the region is wrong', async () => {
        const problem = failed(await put(object('a.jsonl'), { region: 'us-west-2' }));
        expect(problem).to.include({ kind: 'region', retryable: false });
        expect(problem.detail).to.match(/not in region "us-west-2".*eu-central-1/);
      });
    }

    it('says that nobody listens, and that it can be tried again', async () => {
      const [port] = await freePorts(1);
      const target = targetOf(provider, `http://127.0.0.1:${port}`);
      const problem = failed(await warehouses.put(target, object('a.jsonl'), DEADLINE_MS));
      expect(problem).to.include({ kind: 'unreachable', retryable: true });
      expect(problem.detail).to.contain(`Connection refused by 127.0.0.1:${port}; check endpoint`);
    });

    it('can repeat an upload whose answer was lost', async () => {
      const written = object('lost-answer.jsonl');
      const proxy = await startTcpProxy(new URL(server.url).host);
      proxy.holdAnswers();
      try {
        const problem = failed(await warehouses.put(targetOf(provider, `http://${proxy.address}`), written, SHORT_MS));
        expect(problem).to.include({ kind: 'timeout', retryable: true });
      } finally {
        await proxy.close();
      }
      await until('the object is there', async () => succeeded(await head(written.key)));
      succeeded(await put(written));
      expect(succeeded(await head(written.key))).to.deep.include({ metadata: written.metadata });
    });

    const late: [string, (response: ServerResponse) => void, detail: RegExp][] = [
      ['there is no answer', () => undefined, /did not respond within 500 ms$/],
      // Never silent for long and never done: only interim answers, one every 50 ms.
      ['the answer keeps coming slowly', (response) => interimEvery(response, 50), /./],
    ];
    for (const [what, answer, detail] of late) {
      it(`gives up at the deadline when ${what}`, async () => {
        const port = await httpServer((request, response) => {
          request.resume();
          answer(response);
        });
        const url = `http://127.0.0.1:${port}`;
        for (const result of [
          await warehouses.put(targetOf(provider, url), object('a.jsonl'), SHORT_MS),
          await warehouses.head(targetOf(provider, url), 'a.jsonl', SHORT_MS),
        ]) {
          const problem = failed(result);
          expect(problem).to.include({ kind: 'timeout', retryable: true });
          expect(problem.detail).to.match(detail);
        }
      });
    }

    it('does not connect to an address that the guard refuses, given as a literal or behind a name', async () => {
      const guarded = createWarehouses({
        allow: [],
        resolve: (_name, callback) => callback(null, [{ address: '169.254.169.254', family: 4 }]),
      });
      try {
        for (const [url, what] of [
          [server.url, '127.0.0.1 is a loopback address'],
          ['http://store.example', 'store.example resolves to 169.254.169.254, which is'],
          [undefined, `${provider.publicHost} resolves to 169.254.169.254, which is`],
        ] as const) {
          for (const result of [
            await guarded.put(targetOf(provider, url), object('a.jsonl'), DEADLINE_MS),
            await guarded.head(targetOf(provider, url), 'a.jsonl', DEADLINE_MS),
          ]) {
            const problem = failed(result);
            expect(problem).to.include({ kind: 'refused', retryable: false });
            expect(problem.detail).to.contain(what).and.to.contain('HOOKYARD_DELIVERY_ALLOW');
          }
        }
      } finally {
        await guarded.close();
      }
    });
  });
}

function interimEvery(response: ServerResponse, ms: number): void {
  const again = setInterval(() => response.writeProcessing(), ms);
  response.once('close', () => clearInterval(again));
}
