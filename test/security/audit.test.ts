// npm run audit, with a registry of the test's own: it fails on grave findings, and does not take silence for "none".
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

const SCRIPT = join(import.meta.dirname, '..', '..', 'local', 'audit.ts');

describe('npm run audit', () => {
  let server: Server;
  let answer: { status: number; advisories: object };
  const asked: string[] = [];
  // npm keeps what it has learned of an advisory.
  const cache = mkdtempSync(join(tmpdir(), 'hookyard-audit-'));
  before(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      request.resume();
      request.on('end', () => {
        const isAsked = request.method === 'POST' && request.url?.endsWith('/advisories/bulk');
        response.writeHead(isAsked ? answer.status : 404, { 'content-type': 'application/json' });
        response.end(JSON.stringify(isAsked ? answer.advisories : {}));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    rmSync(cache, { recursive: true, force: true });
    server.closeAllConnections();
    server.close();
  });

  async function audit(): Promise<{ code: number; output: string }> {
    const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const child = spawn(process.execPath, [SCRIPT, `--registry=${registry}`, `--cache=${cache}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => {
        output += part;
      });
    }
    const [code] = (await once(child, 'close')) as [number];
    return { code, output };
  }
  const advisory = (id: number, severity: string) => ({
    ...{ id, url: 'https://advisories.example/1', title: 'Reads what it should not', severity },
    ...{ vulnerable_versions: '*', cwe: [], cvss: { score: 8, vectorString: null } },
  });

  it('succeeds when the registry knows of nothing', async () => {
    answer = { status: 200, advisories: {} };
    const { code, output } = await audit();
    expect(output).to.include('0 packages with grave vulnerabilities, 0 with others');
    expect(code).to.equal(0);
    expect(asked.join()).to.include('POST /-/npm/v1/security/advisories/bulk');
  });

  it('fails on a grave vulnerability of a package that the service runs with, and names it', async () => {
    answer = { status: 200, advisories: { koa: [advisory(1, 'high')] } };
    const { code, output } = await audit();
    expect(output).to.match(/^koa: high: .*Reads what it should not https:\/\/advisories\.example\/1/m);
    expect(code).to.equal(1);
  });

  it('only tells of lesser ones, and of none in what only tests use', async () => {
    answer = { status: 200, advisories: { koa: [advisory(2, 'low')], chai: [advisory(3, 'critical')] } };
    const { code, output } = await audit();
    expect(output).to.match(/0 packages with grave vulnerabilities, [1-9]\d* with others/);
    expect(code).to.equal(0);
  });

  it('says loudly that nothing is known when the registry does not answer the question', async () => {
    answer = { status: 405, advisories: {} };
    const { code, output } = await audit();
    expect(output).to.match(/^WARNING: the dependencies were NOT audited.*405/m);
    expect(code).to.equal(2);
  });
}).timeout(120_000);
