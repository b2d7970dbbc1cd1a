// Requests to the address of a source, as the programs of providers make them.
import { type Provider, providerNamed } from '../../../providers/index.ts';
import { sampleOf } from '../../../providers/sample.ts';
import { signers } from './provider-signers.ts';
import type { SourceView } from '../records.ts';

export interface Reply {
  status: number;
  text: string;
  type: string | null;
  headers: Headers;
}

interface Rest {
  query?: string;
  headers?: Record<string, string>;
  body?: string;
}
export type Ask = (source: SourceView, method: string, rest?: Rest) => Promise<Reply>;

/** Answers are what the provider asks for, so they are not in the description. @param url of the service */
export async function askSource(
  url: string,
  { webhookUrl }: SourceView,
  method: string,
  { query, headers, body }: Rest = {},
): Promise<Reply> {
  const address = `${url}${new URL(webhookUrl).pathname}${query === undefined ? '' : `?${query}`}`;
  const response = await fetch(address, { method, ...(headers && { headers }), ...(body !== undefined && { body }) });
  return {
    status: response.status,
    text: await response.text(),
    type: response.headers.get('content-type'),
    headers: response.headers,
  };
}

/** The request of a signer, at the address that the provider has. */
export async function signedRequest(
  name: string,
  source: SourceView,
  key: Parameters<(typeof signers)[string]['sign']>[1],
  text?: string,
) {
  const signer = signers[name] as (typeof signers)[string];
  const sample = sampleOf(providerNamed(name) as Provider, undefined, new Date());
  const body = Buffer.from(text ?? signer.body ?? (sample?.body as Buffer));
  const sent = await signer.sign({ body, nowMs: Date.now(), url: source.webhookUrl }, key);
  const named = Object.entries(sample?.headers ?? {}).map(([its, value]) => [its.toLowerCase(), value]);
  const headers: Record<string, string> = { ...Object.fromEntries(named), ...sent.headers };
  return { ...sent, headers, body: (sent.body ?? body).toString() };
}
