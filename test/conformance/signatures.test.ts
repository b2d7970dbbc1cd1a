// What every signature scheme of the registry must do, tried with the vectors that providers publish.
import { expect } from 'chai';
import fc from 'fast-check';
import { VERIFICATION_TYPES, type VerificationConfig } from '../../core/verification/config.ts';
import { describedSigners } from '../support/providers/described-signers.ts';
import { expectRefused, signatureVectors, signedWith, verifyVector } from '../support/providers/signature-vectors.ts';

const TOLERANCE_SECONDS = 300;
const YEAR_MS = 365 * 86_400_000;

it('every type has a vector, or a signer of its own (described.test.ts), but the one that verifies nothing', () => {
  const tried = [...signatureVectors, ...Object.values(describedSigners)].map(({ config }) => config.type);
  expect([...new Set([...tried, 'none'])].toSorted()).to.deep.equal(VERIFICATION_TYPES.toSorted());
});

for (const vector of signatureVectors) {
  const { body, config, headers, nowMs, signatureHeader } = vector;
  const signature = headers[signatureHeader] ?? '';
  /** The signature with another digit at this place, counted from its end. */
  const changed = (fromEnd: number): string => {
    const at = signature.length - 1 - fromEnd;
    return signature.slice(0, at) + (signature[at] === '0' ? '1' : '0') + signature.slice(at + 1);
  };
  // Of base64 the last characters may be padding, or hold fewer bits.
  const wrong = changed(4);

  describe(`signature scheme ${vector.name}`, () => {
    it('accepts the genuine request', () => {
      expect(verifyVector(vector).valid).to.equal(true);
    });

    it('refuses a body with any byte changed, with one more and with one less', () => {
      const bytes = Buffer.from(body);
      for (let at = 0; at < bytes.length; at += 1) {
        const other = Buffer.from(bytes);
        other.writeUInt8(bytes.readUInt8(at) ^ 1, at);
        expectRefused(vector, { body: other }, /does not match/);
      }
      for (const other of [`${body} `, ` ${body}`, body.slice(1), body.slice(0, -1), '']) {
        expectRefused(vector, { body: other }, /does not match/);
      }
    });

    it('refuses another secret', () => {
      const { secret } = config as { secret: string };
      for (const other of ['another secret', `${secret} `, secret.slice(1), secret.toUpperCase()]) {
        expectRefused(vector, { config: { ...config, secret: other } as VerificationConfig }, /does not match/);
      }
    });

    it('refuses a missing or empty header', () => {
      expectRefused(vector, { headers: {} }, /header .* is missing/i);
      expectRefused(vector, signedWith(vector, ''), /header .* is missing/i);
    });

    it('refuses a signature that is cut short, lengthened, or no signature at all', () => {
      for (const text of [signature.slice(0, -4), `${signature}00`, `${signature}!`, 'x', '=', ',', 'v1=', 'v0=']) {
        expectRefused(vector, signedWith(vector, text), /signature|start with|timestamp/i);
      }
    });

    it('refuses a signature with any of the last characters of the digest changed', () => {
      for (let fromEnd = 3; fromEnd < 24; fromEnd += 1) {
        expectRefused(vector, signedWith(vector, changed(fromEnd)), /does not match/);
      }
    });

    // Node joins headers of one name with a comma and a space.
    it('is not deceived by a header that comes twice', () => {
      expectRefused(vector, signedWith(vector, `${wrong}, ${wrong}`), /does not match/);
      for (const twice of [`${signature}, ${signature}`, `${signature}, ${wrong}`, `${wrong}, ${signature}`]) {
        if (vector.isList) expect(verifyVector(vector, signedWith(vector, twice)).valid).to.equal(true);
        else expectRefused(vector, signedWith(vector, twice), /does not match/);
      }
      for (const [name, value] of Object.entries(headers)) {
        if (name === signatureHeader) continue;
        expectRefused(vector, { headers: { ...headers, [name]: `${value}, ${value}` } }, /not a number|does not match/);
      }
    });

    const { prefix } = vector;
    if (prefix !== undefined) {
      it(`refuses the right digest behind anything but ${prefix}`, () => {
        const digest = signature.slice(prefix.length);
        for (const other of ['', 'x'.repeat(prefix.length), prefix.toUpperCase()]) {
          expectRefused(vector, signedWith(vector, other + digest), /does not start with/);
        }
      });
    }

    if (vector.isDated) {
      it(`accepts what was signed ${TOLERANCE_SECONDS} seconds from now, and nothing older or from further ahead`, () => {
        for (const seconds of [TOLERANCE_SECONDS, -TOLERANCE_SECONDS]) {
          expect(verifyVector(vector, { nowMs: nowMs + seconds * 1000 }).valid).to.equal(true);
        }
        for (const ms of [TOLERANCE_SECONDS * 1000 + 1, YEAR_MS]) {
          for (const sign of [1, -1]) {
            expectRefused(vector, { nowMs: nowMs + sign * ms }, /more than 300 seconds/);
          }
        }
      });
    } else {
      it('accepts it at any time, because none is signed', () => {
        expect(verifyVector(vector, { nowMs: nowMs + YEAR_MS }).valid).to.equal(true);
      });
    }

    it('never throws on what strangers send', () => {
      fc.assert(
        fc.property(
          fc.string(),
          fc.string(),
          (text, other) => !verifyVector(vector, { ...signedWith(vector, text), body: other }).valid,
        ),
      );
    });
  });
}
