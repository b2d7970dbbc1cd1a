// Bodies that are being received at the same time share a memory of limited size: against the running API.
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { expectError } from '../support/api-client.ts';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import { send } from '../support/http-client.ts';
import { createOrganization, type Service, startService, type TestOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openConnection, type RawConnection } from './raw-connection.ts';

const MEBIBYTE = 1024 * 1024;
const MAX_PAYLOAD = 5 * MEBIBYTE;
const ROOM = 16 * MEBIBYTE;
const STALLED = MAX_PAYLOAD - 100 * 1024;
const REQUESTS_PER_SOURCE = 2;
// What has reached the server's machine is read before it has answered so many others.
const TURNS = 100;

describe('Bodies that are many', () => {
  let service: Service;
  let organization: TestOrganization;
  const stalled: RawConnection[] = [];
  before(async () => {
    service = await startService('api', {
      HOOKYARD_MAX_PAYLOAD_BYTES: String(MAX_PAYLOAD),
      HOOKYARD_MAX_BUFFERED_BYTES: String(ROOM),
      HOOKYARD_MAX_REQUESTS_PER_SOURCE: String(REQUESTS_PER_SOURCE),
    });
    organization = await createOrganization({ service });
  });
  afterEach(() => {
    for (const { socket } of stalled.splice(0)) socket.destroy();
  });
  after(() => service.stop());

  const path = ({ slug }: SourceRecord) => `/ingest/${organization.slug}/${slug}`;
  const post = (to: SourceRecord, bytes: number) =>
    send('POST', service.url + path(to), { 'content-type': 'application/octet-stream' }, randomBytes(bytes));

  /** Sources that have had a webhook, so that the next one of each is let in without a look into the database. */
  async function sources(count: number): Promise<SourceRecord[]> {
    const made: SourceRecord[] = [];
    for (let number = 0; number < count; number += 1) made.push(await makeSource(organization));
    for (const source of made) expect((await post(source, 1)).status).to.equal(200);
    return made;
  }

  /** Begins a webhook of the largest size and sends so much of it; resolves when the server has read that. */
  async function stall(to: SourceRecord, bytes: number): Promise<RawConnection> {
    const connection = await openConnection(Number(new URL(service.url).port));
    stalled.push(connection);
    const length = `Content-Length: ${MAX_PAYLOAD}`;
    connection.socket.write(`POST ${path(to)} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n${length}\r\n\r\n`);
    await until('the server to ask for the body', () => connection.answers()[0]?.status === 100);
    await new Promise((resolve) => connection.socket.write(Buffer.alloc(bytes), resolve));
    for (let turn = 0; turn < TURNS; turn += 1) await send('GET', `${service.url}/healthz`);
    return connection;
  }

  it('are of so many webhooks of one source at most, which leaves others alone', async () => {
    const [source, other] = (await sources(2)) as [SourceRecord, SourceRecord];
    for (let count = 1; count < REQUESTS_PER_SOURCE; count += 1) await stall(source, 10);
    const last = await stall(source, 10);
    const refused = await post(source, 1);
    expect(refused.status).to.equal(503);
    expect(refused.body).to.include({ code: 'UNAVAILABLE' });
    expect(refused.headers['retry-after']).to.match(/^\d+$/);
    expect((await post(other, 1)).status).to.equal(200);
    last.socket.write(Buffer.alloc(MAX_PAYLOAD - 10));
    await until('the one that was slow to be stored', () => last.answers()[1]?.status === 200);
    expect((await post(source, 1)).status, 'there is room again').to.equal(200);
  });

  it('find room only to a limit, of which a source gets half, and room is given back', async () => {
    const [source, other] = (await sources(2)) as [SourceRecord, SourceRecord];
    await stall(source, STALLED);
    const refused = await post(source, 4 * MEBIBYTE);
    expect(refused.status).to.equal(503);
    expect(refused.headers).to.include({ 'retry-after': '1', connection: 'close' });
    expect(refused.body).to.include({ code: 'UNAVAILABLE' });
    expect((await post(other, 4 * MEBIBYTE)).status).to.equal(200);
    stalled.pop()?.socket.destroy();
    await until('there is room again', async () => (await post(source, 4 * MEBIBYTE)).status === 200);
  });

  it('find no room when others have all of it, which holds for the management API too', async () => {
    const [fourth, ...others] = (await sources(4)) as [SourceRecord, ...SourceRecord[]];
    for (const each of others) await stall(each, STALLED);
    expect((await post(fourth, 2 * MEBIBYTE)).status).to.equal(503);
    const large = { destinations: [{ name: 'x'.repeat(2 * MEBIBYTE) }], conflictStrategy: 'skip' };
    const answer = await organization.api.request('POST', '/api/destinations/import', large);
    expectError(answer, 503, 'UNAVAILABLE', /nothing was changed/);
    expect((await post(fourth, 1)).status).to.equal(200);
  });

  it('count by what they cost: many small pieces are more than their bytes', async () => {
    const [source] = (await sources(1)) as [SourceRecord];
    const connection = await openConnection(Number(new URL(service.url).port));
    stalled.push(connection);
    const head = `POST ${path(source)} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
    connection.socket.write(head + '1\r\na\r\n'.repeat(100_000));
    const answer = await until('the refusal', () => connection.answers()[0]);
    expect(answer.status).to.equal(503);
    expect(answer.body).to.include({ code: 'UNAVAILABLE' });
  });
});
