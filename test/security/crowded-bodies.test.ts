// Bodies that are being received at the same time share a memory of limited size: against the running API.
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import { send } from '../support/requests/http-client.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useOrganization, useService } from '../support/use-hookyard.ts';
import { openConnection, type RawConnection } from './raw-connection.ts';

const MEBIBYTE = 1024 * 1024;
const MAX_PAYLOAD = 5 * MEBIBYTE;
const ROOM = 16 * MEBIBYTE;
const STALLED = MAX_PAYLOAD - 100 * 1024;
// What has reached the server's machine is read before it has answered so many others.
const TURNS = 100;

describe('Bodies that are many', () => {
  const limits = { HOOKYARD_MAX_PAYLOAD_BYTES: String(MAX_PAYLOAD), tuning: { bufferedBytes: ROOM } };
  const service = useService('api', limits);
  const organization = useOrganization(() => ({ service }));
  const stalled: RawConnection[] = [];
  afterEach(() => {
    for (const { socket } of stalled.splice(0)) socket.destroy();
  });
  const connected = async (from?: string) => {
    const connection = await openConnection(Number(new URL(service.url).port), { from });
    stalled.push(connection);
    return connection;
  };

  const path = ({ webhookUrl }: SourceRecord) => new URL(webhookUrl).pathname;
  const post = (to: SourceRecord, bytes: number) =>
    send('POST', service.url + path(to), { 'content-type': 'application/octet-stream' }, randomBytes(bytes));

  /** Sources that have had a webhook, so that the next one of each is let in without a look into the database. */
  async function sources(
    count: number,
    of = async (): Promise<TestOrganization> => organization,
  ): Promise<SourceRecord[]> {
    const made: SourceRecord[] = [];
    for (let number = 0; number < count; number += 1) made.push(await makeSource(await of()));
    for (const source of made) expect((await post(source, 1)).status).to.equal(200);
    return made;
  }

  /** Begins a webhook of the largest size and sends so much of it; resolves when the server has read that. */
  async function stall(to: SourceRecord, bytes: number, from = '127.0.0.2'): Promise<RawConnection> {
    const connection = await connected(from);
    const length = `Content-Length: ${MAX_PAYLOAD}`;
    connection.socket.write(`POST ${path(to)} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n${length}\r\n\r\n`);
    await until('the server to ask for the body', () => connection.answers()[0]?.status === 100);
    await new Promise((resolve) => connection.socket.write(Buffer.alloc(bytes), resolve));
    for (let turn = 0; turn < TURNS; turn += 1) await send('GET', `${service.url}/healthz`);
    return connection;
  }

  it('find room only to a limit, of which a source gets a part, and room is given back', async () => {
    const [source, other] = (await sources(2)) as [SourceRecord, SourceRecord];
    await stall(source, STALLED);
    const refused = await post(source, 4 * MEBIBYTE);
    expect(refused.status).to.equal(503);
    expect(refused.headers).to.include({ 'retry-after': '1', connection: 'close' });
    expect(refused.body).to.include({ code: 'UNAVAILABLE' });
    expect((await post(other, 2 * MEBIBYTE)).status).to.equal(200);
    stalled.pop()?.socket.destroy();
    await until('there is room again', async () => (await post(source, 4 * MEBIBYTE)).status === 200);
  });

  it('leave less to each further address, and always something; the management API has a part of its own', async () => {
    const strangers = await sources(3, () => createOrganization({ service }));
    const [own] = (await sources(1)) as [SourceRecord];
    // Of 12 MiB for ingest each gets what the ones before it have left, halved.
    const [first, second, third] = strangers as [SourceRecord, SourceRecord, SourceRecord];
    await stall(first, STALLED, '127.0.0.2');
    await stall(second, 3.25 * MEBIBYTE, '127.0.0.3');
    await stall(third, 1.75 * MEBIBYTE, '127.0.0.4');
    const refused = await post(own, 3 * MEBIBYTE);
    expect(refused.status).to.equal(503);
    expect(refused.body).to.include({ code: 'UNAVAILABLE' });
    expect((await post(own, MEBIBYTE / 2)).status).to.equal(200);
    const large = { destinations: [{ name: 'x'.repeat(2 * MEBIBYTE) }], conflictStrategy: 'skip' };
    const answer = await organization.api.request('POST', '/api/destinations/import', large);
    expect(answer.status).to.be.below(500);
  });

  it('of one address leave room for the others that send to the same organization', async () => {
    const [source, other] = (await sources(2)) as [SourceRecord, SourceRecord];
    await stall(source, STALLED);
    await stall(other, MEBIBYTE / 2);
    const connection = await connected('127.0.0.2');
    connection.socket.write(`POST ${path(other)} HTTP/1.1\r\nHost: a\r\nContent-Length: ${MEBIBYTE}\r\n\r\n`);
    connection.socket.write(Buffer.alloc(MEBIBYTE));
    const refused = await until('the answer', () => connection.answers()[0]);
    expect(refused.status).to.equal(503);
    expect((await post(other, MEBIBYTE)).status).to.equal(200);
  });

  it('are cut off when they drip, and nothing of them is stored', async () => {
    const [source] = (await sources(1)) as [SourceRecord];
    // In 10 s, 1000 bytes a second are more than these and the drops.
    const slow = await stall(source, 9000);
    const drip = setInterval(() => slow.socket.write('x'), 100);
    const answers = await slow.closed.finally(() => clearInterval(drip));
    expect(answers.at(-1)).to.deep.include({ status: 408 });
    expect(answers.at(-1)?.body).to.include({ code: 'REQUEST_TIMEOUT' });
    const { pagination } = await organization.api.list(`${organization.base}/events?sourceId=${source.id}`);
    expect(pagination.total, 'the one that the source had before').to.equal(1);
  });

  it('count by what they cost: many small pieces are more than their bytes', async () => {
    const [source] = (await sources(1)) as [SourceRecord];
    const connection = await connected();
    const head = `POST ${path(source)} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
    connection.socket.write(head + '1\r\na\r\n'.repeat(100_000));
    const answer = await until('the refusal', () => connection.answers()[0]);
    expect(answer.status).to.equal(503);
    expect(answer.body).to.include({ code: 'UNAVAILABLE' });
  });
});
