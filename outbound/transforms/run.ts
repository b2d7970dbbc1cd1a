// Runs transforms in a thread, and keeps the sandboxes of recent ones warm. The languages are registered here.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isUtf8 } from 'node:buffer';
import { parse as parseQuery } from 'node:querystring';
import { LRUCache } from 'lru-cache';
import { readForm } from '../../core/forms/forms.ts';
import type { TransformType } from '../../core/config/transform-types.ts';
import type { TransformTask } from '../threads/tasks.ts';
import { javascript } from './javascript.ts';
import { jsonata } from './jsonata.ts';
import {
  LIMITS,
  problems,
  type TransformCode,
  type TransformEvent,
  type TransformLanguage,
  type TransformOutput,
  type TransformProblem,
  type TransformResult,
} from './language.ts';
import { liquid } from './liquid.ts';
import { type NumberForm, tellNumbers } from './numbers.ts';
import { openSandbox, type Sandbox, type SandboxInput, type SandboxResult } from './sandbox.ts';

const languages: Record<TransformType, TransformLanguage> = { javascript, jsonata, liquid };

type Outcome = { ok: true; output: TransformOutput } | { ok: false; problem: TransformProblem };
const MAX_WARM = 16;
const MAX_WARM_BYTES = 512 * 1024 * 1024;
const MAX_RUNS = 1000;

// QuickJS asks the host for the time zone; a result must not depend on the machine.
Date.prototype.getTimezoneOffset = () => 0;

const requireFromQuickJs = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
const wasm = new WebAssembly.Module(
  readFileSync(requireFromQuickJs.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')),
);
const warm = new LRUCache<string, { sandbox: Sandbox; runs: number }>({
  max: MAX_WARM,
  maxSize: MAX_WARM_BYTES,
  sizeCalculation: ({ sandbox }) => sandbox.memoryBytes,
});

/**
 * Runs a transform on its event, or checks its code.
 * @param begin called when everything of our own is loaded, and the code runs from now on
 */
export async function runTransform({ transform, event }: TransformTask, begin: () => void): Promise<TransformResult> {
  const { key, type, code } = transform;
  const sandbox = takeWarm(key) ?? (await openSandbox(wasm, languages[type], code));
  // Our own work on a large payload does not count as the time of the code.
  const input = event === null ? null : inputOf(event, languages[type].numbers);
  begin();
  const startedAt = performance.now();
  const result = outputOf(transform, input === null ? checked(sandbox, type, code) : sandbox.run(input));
  if (event !== null) keepWarm(key, sandbox);
  return { ...result, durationMs: performance.now() - startedAt };
}

function checked(sandbox: Sandbox, type: TransformType, code: string): SandboxResult {
  const missing = languages[type].findMissing?.(code) ?? null;
  return missing === null ? sandbox.check() : { ok: false, problem: missing };
}

function outputOf(transform: TransformCode, result: SandboxResult): Outcome {
  if (!result.ok) return result;
  // As JSON, NaN is null too.
  if (!result.isText && result.text === 'null') return { ok: false, problem: problems.nothing };
  const body = new TextEncoder().encode(result.text);
  if (body.byteLength > LIMITS.outputBytes) return { ok: false, problem: problems.output };
  const contentType = transform.outputContentType ?? (result.isText ? 'text/plain; charset=utf-8' : 'application/json');
  return { ok: true, output: { body, contentType, isText: result.isText } };
}

function takeWarm(key: string | null): Sandbox | undefined {
  return key === null ? undefined : warm.get(key)?.sandbox;
}

/** Keeps a sandbox for the next event, unless it has hit a limit or run for long enough. */
function keepWarm(key: string | null, sandbox: Sandbox): void {
  if (key === null) return;
  const runs = (warm.get(key)?.runs ?? 0) + 1;
  if (sandbox.usable && runs < MAX_RUNS) warm.set(key, { sandbox, runs });
  else warm.delete(key);
}

function inputOf(event: TransformEvent, form: NumberForm): SandboxInput {
  const { id, source, method, path, query, headers, body, receivedAt } = event;
  const lowercase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const fields = readForm(bytes, lowercase['content-type']);
  const isText = fields !== null || isUtf8(bytes);
  const facts = {
    payload: null,
    ...(!isText && { payloadEncoding: 'base64' }),
    headers: lowercase,
    path,
    query: { ...parseQuery(query) },
    method,
    id,
    source,
    receivedAt: receivedAt.toISOString(),
  };
  const seed = hash(id);
  const text =
    fields !== null ? JSON.stringify(fields) : isText ? textOf(bytes) : JSON.stringify(bytes.toString('base64'));
  return {
    id,
    facts: JSON.stringify(facts),
    body: text,
    numbers: tellNumbers(text, form, seed),
    now: receivedAt.getTime(),
    seed,
  };
}

/** RFC 8259, section 8.1: a parser may ignore a byte order mark. Texts with NUL cross the border as JSON. */
function textOf(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  return text.includes('\0') ? JSON.stringify(text) : text;
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
