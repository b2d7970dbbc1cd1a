import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createClient } from '../support/api-client.ts';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import { type LogLine, logLines } from '../support/telemetry/log-lines.ts';
import { createOrganization, type Service, startService, type TestOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';

const FLOOD = 300;
const SIGNING_SECRET = 'this-must-not-be-in-the-log';

// What Node itself prints as text, on a signal.
const crashing = `import { isMainThread } from 'node:worker_threads';
  if (isMainThread) process.on('SIGUSR2', () => {
    for (let n = 0; n < 5; n += 1) process.emitWarning('an old call');
    setTimeout(() => { throw new Error('nobody handles this'); }, 100);
  });`;

describe('the log of the API', () => {
  const started: Service[] = [];
  const start = async (settings: Record<string, string> = {}) => {
    const service = await startService('api', settings);
    started.push(service);
    return service;
  };
  afterEach(() => Promise.all(started.splice(0).map((service) => service.stop())));

  describe('has the form that is chosen:', () => {
    it('JSON, with names of levels', async () => {
      const service = await start();
      await service.stop();
      const lines = logLines(service);
      expect(lines.map(({ msg }) => msg)).to.include(`API listening on ${service.url}`);
      for (const line of lines) {
        expect(line.level).to.be.oneOf(['info', 'warn']);
        expect(line.role).to.equal('api');
        expect(line.time).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      }
    });

    it('text for people', async () => {
      const service = await start({ HOOKYARD_LOG_FORMAT: 'text' });
      await until('its address', () => service.output().includes(`API listening on ${service.url}`));
      expect(service.output())
        .to.match(/^\[[\d:.]+\] INFO/)
        .and.not.match(/^\{/m);
    });

    it('JSON, also for warnings of Node and an error that nobody handled', async () => {
      const service = await start({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(crashing)}` });
      process.kill(service.pid, 'SIGUSR2');
      await until('its end', () => !service.running);
      const warnings = () => logLines(service).filter(({ msg }) => msg === 'Node.js warning');
      await until('what was counted', () => warnings().some(({ repeated }) => repeated === 4));
      expect(warnings()).to.have.length(2);
      expect(warnings()[0]).to.include({ level: 'warn', details: 'an old call' });
      const last = logLines(service).find(({ level }) => level === 'fatal');
      expect(last).to.include({ msg: 'unhandled error; exiting' });
      expect(last?.cause).to.include({ details: 'nobody handles this' });
    });
  });

  describe('says of requests', () => {
    const guess = () => `whr_${randomBytes(24).toString('base64url')}`;
    let organization: TestOrganization;
    let closed: SourceRecord;
    let signed: SourceRecord;
    let guesses: string[];

    async function flood(service: Service): Promise<void> {
      organization = await createOrganization({ service });
      closed = await makeSource(organization, { ingestToken: 'required' });
      signed = await makeSource(organization, { verificationConfig: { type: 'github', secret: SIGNING_SECRET } });
      guesses = Array.from({ length: FLOOD }, guess);
      const post = (path: string) =>
        fetch(`${service.url}/ingest/${organization.slug}/${path}`, { method: 'POST', body: '{}' });
      for (const key of guesses) {
        const answers = [
          await createClient(service.url, key).request('GET', '/api/destinations'),
          await post(`${closed.slug}/${key}`),
          await post(signed.slug),
        ];
        expect(answers.map(({ status }) => status)).to.deep.equal([401, 404, 401]);
      }
    }

    const ofRefused = (service: Service) => logLines(service).filter(({ msg }) => msg === 'requests were refused');
    const sum = (lines: LogLine[]) => lines.reduce((all, { refused }) => all + Number(refused), 0);

    it('that were refused one line a second, with their number by cause, organization and source', async () => {
      const service = await start();
      await flood(service);
      await until('all of them to be counted', () => sum(ofRefused(service)) >= 3 * FLOOD);
      const lines = ofRefused(service);
      expect(sum(lines)).to.equal(3 * FLOOD);
      const [first, last] = [lines[0], lines.at(-1)].map((line) => Date.parse(line?.time ?? ''));
      expect(lines.length).to.be.at.most(2 + ((last ?? 0) - (first ?? 0)) / 1000);
      const causes = new Map<string, number>();
      for (const { status, code, count } of lines.flatMap((line) => line.causes as { [name: string]: number }[])) {
        causes.set(`${status} ${code}`, (causes.get(`${status} ${code}`) ?? 0) + Number(count));
      }
      expect(Object.fromEntries(causes)).to.deep.equal({
        '401 UNAUTHORIZED': FLOOD,
        '404 RESOURCE_NOT_FOUND': FLOOD,
        '401 INVALID_SIGNATURE': FLOOD,
      });
      const counted = (list: 'sources' | 'organizations', id: string) =>
        lines.reduce((all, line) => all + ((line[list] as Record<string, number>)[id] ?? 0), 0);
      expect(counted('sources', signed.id)).to.equal(FLOOD);
      expect(counted('sources', closed.id)).to.equal(FLOOD);
      expect(counted('organizations', organization.id)).to.equal(2 * FLOOD);
      expect(lines[0]).to.include({ level: 'info', role: 'api' });
      expect(logLines(service).filter(({ msg, status }) => msg === 'request' && Number(status) >= 400)).to.deep.equal(
        [],
      );
      for (const secret of [...guesses, SIGNING_SECRET, organization.token]) {
        expect(service.output()).to.not.include(secret);
      }
    });

    it('that were refused a line each at level debug, without the token of its address', async () => {
      const service = await start({ LOG_LEVEL: 'debug' });
      await flood(service);
      const each = () => logLines(service).filter(({ msg, level }) => msg === 'request' && level === 'debug');
      await until('their lines', () => each().length >= 3 * FLOOD);
      const paths = new Set(each().map(({ path }) => path));
      expect(paths).to.include(`/ingest/${organization.slug}/${closed.slug}/****`);
      for (const secret of guesses) expect(service.output()).to.not.include(secret);
    });
  });
});
