// One client address that floods: with bodies that never end, with requests, with connections. The others are served,
// and operators get in.
import { expect } from 'chai';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import { send } from '../support/requests/http-client.ts';
import { createOrganization, type Service, startService, type TestOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { isRefused, type RawConnection, stalledWebhook } from './raw-connection.ts';

const MEBIBYTE = 1024 * 1024;
const ROOM = 64 * MEBIBYTE;
const BODY = MEBIBYTE;
// Together they would fill the memory, whatever else is in it.
const FLOOD = 121;
const SENT = Math.floor(0.9 * BODY);
const ATTACKER = '127.0.0.9';
const OTHERS_WEBHOOKS = 60;

describe('A flood of one client address', () => {
  let service: Service;
  let attacked: TestOrganization;
  let other: TestOrganization;
  const held: RawConnection[] = [];
  before(async () => {
    service = await startService('api', {
      tuning: { bufferedBytes: ROOM },
      HOOKYARD_MAX_PAYLOAD_BYTES: String(5 * MEBIBYTE),
    });
    attacked = await createOrganization({ service });
    other = await createOrganization({ service });
  });
  afterEach(() => {
    for (const { socket } of held.splice(0)) socket.destroy();
  });
  after(() => service.stop());

  const pathOf = ({ webhookUrl }: SourceRecord) => new URL(webhookUrl).pathname;
  const signed = (organization: TestOrganization) =>
    makeSource(organization, { verificationConfig: { type: 'github', secret: 'a secret of sixteen bytes' } });

  /** Begins a webhook from the attacker's address, and sends nearly all of it. */
  async function stall(to: SourceRecord, bytes = SENT): Promise<RawConnection> {
    const connection = await stalledWebhook(service.url + pathOf(to), { from: ATTACKER, length: BODY, bytes });
    held.push(connection);
    return connection;
  }

  it('with 121 slow bodies to three sources that ask for signatures refuses nobody else', async () => {
    const targets = [await signed(attacked), await signed(attacked), await signed(attacked)] as const;
    const victims = [await makeSource(other), await makeSource(attacked)];
    const stalls: RawConnection[] = [];
    const refused = (from = 0) => stalls.slice(from).filter(isRefused).length;
    // What the large bodies leave free, smaller ones fill.
    for (const [count, bytes] of [
      [FLOOD, SENT],
      [60, 64 * 1024],
      [60, 4 * 1024],
    ] as const) {
      const from = stalls.length;
      stalls.push(
        ...(await Promise.all(Array.from({ length: count }, (_, n) => stall(targets[n % 3] ?? targets[0], bytes)))),
      );
      await until('the flood has used up its share', () => refused(from) > 0);
    }
    // Another organization's, and another source of the attacked one.
    for (const victim of victims) {
      const statuses: number[] = [];
      for (let n = 0; n < OTHERS_WEBHOOKS; n += 1) {
        const answer = await send('POST', service.url + pathOf(victim), {}, Buffer.alloc(100_000));
        statuses.push(answer.status);
      }
      expect(statuses).to.deep.equal(Array(OTHERS_WEBHOOKS).fill(200));
    }
    expect(refused(), 'the flood still stands').to.be.below(stalls.length);
    const answer = await attacked.api.request('GET', '/api/destinations');
    expect(answer.status).to.equal(200);
  });

  it('with a body that drips is cut off after seconds, not after a minute', async () => {
    const target = await makeSource(attacked);
    const slow = await stall(target, 200_000);
    const drip = setInterval(() => slow.socket.write('x'), 100);
    try {
      const [answer] = await slow.closed;
      expect(answer?.status).to.equal(408);
      expect(answer?.body).to.include({ code: 'REQUEST_TIMEOUT' });
      expect(String(answer?.body?.message)).to.match(/1000 bytes per second.*nothing was stored/);
    } finally {
      clearInterval(drip);
    }
  });
});
