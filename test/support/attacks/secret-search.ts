// Looks for secrets wherever a run may have left them, in every form in which they could be there.
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/** A secret by what it is of; found where its value is, in any of `formsOf`. */
export type Secrets = Readonly<Record<string, string>>;

/** A place and everything that is written there. */
export interface Place {
  name: string;
  text: string;
}

/**
 * How a text looks as it is, in hexadecimal digits, URL-encoded, inside JSON, and in base64, where it depends on what
 * stands before it: by one of three shifts, without the characters at both ends that hold bits of its neighbours.
 */
function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const inBase64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replaceAll('=', '');
    return text.slice(shift === 0 ? 0 : shift + 1, -1);
  });
  const inUrl = inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const forms = [value, bytes.toString('hex'), encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
  return [...new Set([...forms, ...inBase64, ...inUrl])];
}

/** @returns `place: secret` for each secret that is in a place, hexadecimal digits in any case */
export function leaks(places: Place[], secrets: Secrets): string[] {
  const sought = Object.entries(secrets).map(([name, value]) => {
    if (value.length < 8) throw new Error(`the secret ${name} is too short to be told from other texts`);
    return { name, forms: formsOf(value) };
  });
  return places.flatMap(({ name: place, text }) => {
    const lower = text.toLowerCase();
    return sought
      .filter(({ forms }) => forms.some((form) => text.includes(form) || lower.includes(form.toLowerCase())))
      .map(({ name }) => `${place}: ${name}`);
  });
}

/**
 * What Temporal knows of each workflow of the namespace: its history, its description with memo, search attributes,
 * summaries and details of running activities, and what a running one answers to queries, which is all that can be seen
 * of its memory.
 */
export async function temporalPlaces(client: Client): Promise<Place[]> {
  const places: Place[] = [];
  const { namespace } = client.options;
  for await (const { workflowId, runId, type, status } of client.workflow.list()) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const history = historyToJSON(await handle.fetchHistory());
    const description = await client.workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId, runId },
    });
    const answers: unknown[] = [];
    if (status.name === 'RUNNING') {
      for (const query of queriesOf(type)) answers.push(await handle.query(query));
    }
    const known = [history, textOf(description), JSON.stringify(answers)].join('\n');
    places.push({ name: `Temporal: ${type} ${workflowId}`, text: withDecoded(known) });
  }
  return places;
}

/** Everything that is in a message of gRPC, bytes as text. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${textOf(member)}`)
    .join('\n');
}

const OWN_QUERIES: Record<string, string[]> = {
  delivery: ['status'],
  circuit: ['circuitStatus'],
  replay: ['progress'],
  warehouseFlush: ['warehouseStatus'],
};
const queriesOf = (type: string) => ['__stack_trace', '__temporal_workflow_metadata', ...(OWN_QUERIES[type] ?? [])];

/** The text with everything appended that is base64 in it, and once more in what that gives. */
export function withDecoded(text: string): string {
  const decoded = [...text.matchAll(/"([A-Za-z0-9+/]{8,}={0,2})"/g)].map(([, base64 = '']) =>
    Buffer.from(base64, 'base64').toString('latin1'),
  );
  return [text, ...decoded].join('\n');
}

/** An answer of the API, or anything else that `fetch` brought. */
export interface RecordedAnswer {
  method: string;
  url: string;
  text: string;
}

/** Keeps every answer that this process gets from now on. */
export function recordAnswers(): { answers: RecordedAnswer[]; stop(): void } {
  const answers: RecordedAnswer[] = [];
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const headers = JSON.stringify(Object.fromEntries(response.headers));
    const body = await response.clone().text();
    answers.push({ method: init?.method ?? 'GET', url: response.url, text: `${headers}\n${body}` });
    return response;
  };
  return {
    answers,
    stop: () => {
      globalThis.fetch = fetch;
    },
  };
}
