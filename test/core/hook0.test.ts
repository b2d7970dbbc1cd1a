// Signatures of Hook0 (Coinbase) cover headers and the body with full stops between, which either may hold.
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { type Verification, verify } from '../../core/verification/index.ts';
import { NO_KEYS } from '../../core/verification/published-keys.ts';
import { hook0Signature } from '../../core/verification/signed-requests.ts';
import { rawRequest } from '../support/raw-request.ts';

const SECRET = 'a secret of many letters';
const NOW = 1_700_000_000_000;
const TIME = String(NOW / 1000);
const BODY = '{"price":"1.5"}';
const SIGNED = { 'content-type': 'application/json', 'x-event-id': 'e1', 'x-event-type': 'wallet.activity.detected' };

function isTaken(headers: Record<string, string>, body = BODY, repeated = ''): boolean {
  const isRepeated = (name: string) => name === repeated;
  const request = rawRequest({ headers, body: Buffer.from(body), nowMs: NOW, isRepeated });
  const scheme = { kind: 'hook0', header: 'X-Hook0-Signature', toleranceSeconds: 300 } as const;
  return (verify(scheme, { secret: SECRET }, request, NO_KEYS) as Verification).valid;
}
const signed = (headers: Record<string, string> = SIGNED, body = BODY) => ({
  ...headers,
  'x-hook0-signature': hook0Signature(SECRET, { time: TIME, headers, body: Buffer.from(body) }),
});

describe('signatures of Hook0', () => {
  it('cover the headers that they name, in their order', () => {
    expect(isTaken(signed())).to.equal(true);
    expect(isTaken({ ...signed(), 'x-other': 'not signed' })).to.equal(true);
    const changes: [name: string, value: string][] = [
      ['x-event-id', 'e2'],
      ['x-event-id', ''],
      ['content-type', 'text/plain'],
    ];
    for (const [name, value] of changes)
      expect(isTaken({ ...signed(), [name]: value }), `${name}: ${value}`).to.equal(false);
    const { 'x-hook0-signature': signature } = signed();
    const swapped = signature.replace('content-type x-event-id', 'x-event-id content-type');
    expect(isTaken({ ...signed(), 'x-hook0-signature': swapped })).to.equal(false);
    for (const name of Object.keys(SIGNED)) expect(isTaken(signed(), BODY, name), `${name} twice`).to.equal(false);
  });

  it('are not those without headers, nor ones with a part twice', () => {
    const v0 = createHmac('sha256', SECRET).update(`${TIME}.${BODY}`).digest('hex');
    const { 'x-hook0-signature': signature } = signed();
    for (const text of [
      ...[`t=${TIME},v0=${v0}`, `t=${TIME},h=,v1=${v0}`, `t=${TIME},v1=${v0}`, '', 't', '=', 'v1=,h=a,t=1'],
      ...[`${signature},t=${TIME}`, `${signature},h=content-type`, `${signature},v1=00`],
    ])
      expect(isTaken({ ...SIGNED, 'x-hook0-signature': text }), text).to.equal(false);
    expect(isTaken({ ...SIGNED, 'x-hook0-signature': `${signature},v0=${v0}` })).to.equal(true);
  });

  it('do not let the beginning of the body be moved into a header, nor the end of a header into the body', () => {
    const whole = signed();
    const intoHeader = { ...whole, 'x-event-type': `${SIGNED['x-event-type']}.{"price":"1` };
    expect(isTaken(intoHeader, '5"}')).to.equal(false);
    const intoBody = { ...whole, 'x-event-type': 'wallet' };
    expect(isTaken(intoBody, `activity.detected.${BODY}`)).to.equal(false);
  });

  it('name few headers', () => {
    const headers = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_none, at) => [`x-${at}`, 'v']));
    expect([isTaken(signed(headers(16))), isTaken(signed(headers(17)))]).to.deep.equal([true, false]);
    for (const name of ['X-Upper', 'a=b', 'x'.repeat(65)])
      expect(isTaken(signed({ [name]: 'v' })), name).to.equal(false);
  });
});
