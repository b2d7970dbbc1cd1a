// What a newcomer reads when everything runs: where things are, and three commands that carry a first webhook through.
import type { PreparedDatabase } from '../db/prepare.ts';

export interface Running {
  apiUrl: string;
  temporalUiUrl: string | null;
  organization: PreparedDatabase['organization'];
  createdKey: PreparedDatabase['createdKey'];
  /** The file that keeps the first API key; null when the key came from HOOKYARD_API_KEY. */
  keyFile: string | null;
}

const receiver = `node -e 'require("http").createServer((q,s)=>{q.on("data",d=>console.log(q.method,q.url,""+d)).on("end",()=>s.end("ok"))}).listen(4000,"127.0.0.1")'`;

/** The lines to print. The commands run in any POSIX shell with curl, in the order given. */
export function firstSteps(running: Running): string[] {
  return [
    '',
    `  API          ${running.apiUrl}`,
    `  Temporal UI  ${running.temporalUiUrl ?? 'that of your own Temporal server'}`,
    ...keyLines(running),
    '',
    'Your first webhook. In a second terminal, start a receiver that shows what arrives:',
    receiver,
    '',
    'and in a third, paste these one after the other:',
    '',
    '# 1. a source',
    createSource(running),
    '',
    '# 2. a destination and a route',
    createDestinationAndRoute(running),
    '',
    '# 3. a webhook',
    sendWebhook(running),
    '',
  ];
}

function keyLines({ createdKey, keyFile }: Running): string[] {
  if (keyFile === null) return ['  API key      the one in HOOKYARD_API_KEY'];
  if (createdKey === null) return [`  API key      in ${keyFile}`];
  return [
    `  API key      ${createdKey.token}`,
    `               (shown once; kept in ${keyFile}, which only you can read)`,
  ];
}

function createSource(running: Running): string {
  const path = `/api/organizations/${running.organization.id}/sources`;
  return `SOURCE=$(${post(running, path, `{"name":"Orders","slug":"orders"}`)} | ${takeId('src_')}); echo "$SOURCE"`;
}

function createDestinationAndRoute(running: Running): string {
  const destination = post(running, '/api/destinations', '{"name":"My receiver","url":"http://127.0.0.1:4000/"}');
  const route = '{"name":"Orders to my receiver","sourceId":"\'"$SOURCE"\'","destinationIds":["\'"$DESTINATION"\'"]}';
  return `DESTINATION=$(${destination} | ${takeId('dst_')}); ${post(running, '/api/routes', route)}; echo`;
}

function sendWebhook({ apiUrl, organization }: Running): string {
  return `curl -sS ${apiUrl}/ingest/${organization.slug}/orders -H 'Content-Type: application/json' -d '{"order":42}'; echo`;
}

function post({ apiUrl, keyFile }: Running, path: string, body: string): string {
  const key = keyFile === null ? '$HOOKYARD_API_KEY' : `$(cat ${shellQuote(keyFile)})`;
  return `curl -sS ${apiUrl}${path} -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '${body}'`;
}

/** Takes the new record's id out of the answer; an answer without one (an error) passes unchanged, to be read. */
function takeId(prefix: string): string {
  return `sed 's/.*"id":"\\(${prefix}[^"]*\\)".*/\\1/'`;
}

function shellQuote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
