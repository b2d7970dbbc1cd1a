// The table of docs/providers.md, from the registry. Run as a program, it writes the table into the page.
import { readFileSync, writeFileSync } from 'node:fs';
import type { Scheme } from '../../core/verification/index.ts';
import type { SignatureTemplate } from '../../core/verification/template.ts';
import { TWILIO_HEADER } from '../../core/verification/signed-requests.ts';
import { type Place, type Provider, providers } from '../../providers/index.ts';
import { signers } from '../support/providers/provider-signers.ts';
import { vectors } from '../support/providers/provider-vectors.ts';
import { publishedSigners } from '../support/providers/published-signers.ts';
import { secondVerifiers } from '../support/providers/second-verifiers.ts';

const PAGE = new URL('../../docs/providers.md', import.meta.url);
const BEGIN = '| provider | ';

const signedOf = ({ signed }: SignatureTemplate): string =>
  signed.map((part) => (typeof part === 'string' ? part : `\`${part.text}\``)).join(' ');

function schemeOf(scheme: Scheme): string {
  switch (scheme.kind) {
    case 'hmac':
      return `HMAC-${scheme.algorithm.toUpperCase()} of ${signedOf(scheme)}, \`${scheme.header}\``;
    case 'standard':
      return `Standard Webhooks, \`${scheme.headerPrefix}signature\``;
    case 'header-token':
      return `token, \`${scheme.header}\``;
    case 'basic':
      return 'basic authentication';
    case 'query-token':
      return `token, \`?${scheme.parameter}=\``;
    case 'body-token':
      return `token in the body, \`${scheme.member}\``;
    case 'twilio':
      return `HMAC-SHA1 of url and form, \`${scheme.header ?? TWILIO_HEADER}\``;
    case 'mailgun':
      return 'HMAC-SHA256 of timestamp and token, in the body';
    case 'adyen':
      return 'HMAC-SHA256 of eight values, in the body';
    case 'braintree':
      return 'HMAC-SHA1 of `bt_payload`, `bt_signature` of the form';
    case 'hook0':
      return `HMAC-SHA256 of timestamp headers body, \`${scheme.header}\``;
    case 'websub':
      return 'HMAC of body, `X-Hub-Signature`';
    case 'jwt':
      return `JSON Web Token (${scheme.algorithm})${scheme.bodyHash ? ' with hash of body' : ''}, \`${scheme.header}\``;
    case 'sns':
      return 'RSA of the message, by a certificate that it names';
    case 'paypal':
      return 'RSA of id, time, webhook and CRC-32 of body, by a certificate that it names, `PAYPAL-TRANSMISSION-SIG`';
    case 'public-key':
      return `${scheme.algorithm === 'ecdsa' ? 'ECDSA' : 'Ed25519'} of ${signedOf(scheme)}, \`${scheme.header}\``;
    case 'payload-token':
    case 'none':
      return scheme.kind;
  }
}

const placeOf = (place: Place | undefined): string =>
  place === undefined ? '-' : 'header' in place ? `\`${place.header}\`` : `\`payload.${place.payload}\``;

/** How the conformance suite tests it. */
function testedBy(name: string): string {
  const by = signers[name]?.by;
  const second = secondVerifiers[name]?.by;
  return [
    by === undefined ? 'our signer' : `signer \`${by}\``,
    ...(second === undefined ? [] : [`verifier \`${second}\``]),
    ...(vectors.some(({ provider }) => provider === name) ? ['published signature'] : []),
  ].join(', ');
}

/** What cannot be changed without that the webhook is refused, as the suite tests it. */
function covered(name: string): string {
  const published = publishedSigners[name];
  if (published !== undefined) return published.changed === undefined ? 'nothing' : (published.part ?? 'body');
  const { covers, seconds } = signers[name] ?? {};
  if (typeof covers === 'object') return covers.part;
  if (covers === 'nothing') return 'nothing';
  return [...(seconds === undefined ? [] : ['time']), 'body', ...(covers === undefined ? [] : [covers])].join(', ');
}

function repeatOf(dedup: NonNullable<Provider['dedup']>): string {
  if ('signature' in dedup) return 'its signature';
  return 'header' in dedup ? `\`${dedup.header}\`` : `\`${dedup.jsonPath}\``;
}

const samplesOf = ({ samples }: Provider): string => samples.map(({ event }) => `\`${event}\``).join(', ');

function row(provider: Provider): string {
  const { name, title, docs, verification, eventType, dedup, handshakes = [] } = provider;
  const repeat = dedup === undefined ? '-' : repeatOf(dedup);
  const asks = handshakes.map(({ kind }) => kind).join(', ') || '-';
  const cells = [
    ...[`\`${name}\``, `[${title}](${docs})`, schemeOf(verification), covered(name), asks],
    ...[placeOf(eventType), repeat, samplesOf(provider), testedBy(name)],
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The page with the table of today. */
export function pageOfToday(): { page: string; today: string } {
  const page = readFileSync(PAGE, 'utf8');
  const table = [
    `${BEGIN}documentation | verification | signature covers | handshake | event type | repeats by | samples | tested by |`,
    '|---|---|---|---|---|---|---|---|---|',
    ...providers.map(row),
  ];
  const lines = page.split('\n');
  const begin = lines.findIndex((line) => line.startsWith(BEGIN));
  const length = lines.slice(begin).findIndex((line) => !line.startsWith('|'));
  lines.splice(begin, length, ...table);
  return { page, today: lines.join('\n') };
}

if (import.meta.main) writeFileSync(PAGE, pageOfToday().today);
