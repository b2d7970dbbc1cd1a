// The request behind what a page shows, as a command to paste. The key is not in it.
import { operations } from '@hookyard/client';
import { type Input, type Name, apiUrl } from './client.ts';

/** An operation with its input. */
export type ApiCall = { [N in Name]: { name: N; input: Input<N> } }[Name];

/** @param orgId of the caller, for the organization-scoped family */
export function curlOf({ name, input }: ApiCall, orgId: string): string {
  const { body, ...parameters } = { orgId, ...(input as Record<string, unknown>) } as Record<string, unknown>;
  const [method = 'GET', template = ''] = operations[name].split(' ');
  const used = new Set(['orgId']);
  const path = template.replaceAll(/\{(\w+)\}/g, (_, part: string) => {
    used.add(part);
    return encodeURIComponent(String(parameters[part]));
  });
  const query = new URLSearchParams();
  for (const [part, value] of Object.entries(parameters)) {
    if (!used.has(part) && value !== undefined && value !== null) query.set(part, String(value));
  }
  const address = `${apiUrl}${path}${query.size > 0 ? `?${query}` : ''}`;
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${shellQuoted(address)}`,
    `-H "Authorization: Bearer $HOOKYARD_API_KEY"`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `--data-raw ${shellQuoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ');
}

/** For any POSIX shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
