// Keeps answers small: a model reads every byte, and clients refuse answers that are too long.
import { isUtf8 } from 'node:buffer';
import { ExactNumber } from '../../core/text/exact-json.ts';
import { usage } from '../errors.ts';

/** Bytes of an answer. It travels twice, as structured content and as text; with its summary it stays below 50 KiB. */
const MOST_BYTES = 48 * 1024;

// Tried one after the other: how much of each text and each list is kept.
const STEPS = [
  { characters: 8192, items: 100 },
  { characters: 2048, items: 50 },
  { characters: 1024, items: 25 },
  { characters: 512, items: 12 },
  { characters: 256, items: 6 },
  { characters: 128, items: 3 },
];
type Step = (typeof STEPS)[number];

export interface Bounded {
  data: Record<string, unknown>;
  isCut: boolean;
}

/** What fits: long texts lose their end, long lists their last items. @throws CliError when nothing helps */
export function bounded(data: Record<string, unknown>): Bounded {
  if (isSmall(data)) return { data, isCut: false };
  for (const step of STEPS) {
    const smaller = membersCut(data, step);
    if (isSmall(smaller)) return { data: smaller, isCut: true };
  }
  throw usage('The result is too large; request less data');
}

function isSmall(data: object): boolean {
  const json = JSON.stringify(data);
  // Quotes in a text are longer.
  return Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json)) <= MOST_BYTES;
}

function cut(value: unknown, step: Step): unknown {
  if (typeof value === 'string') return shortText(value, step.characters);
  if (Array.isArray(value)) return value.slice(0, step.items).map((item) => cut(item, step));
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  return membersCut(value, step);
}

const membersCut = (value: object, step: Step): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member, step)]));

export function shortText(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}… (${text.length} characters)`;
}

interface Payload extends Record<string, unknown> {
  text?: string;
  /** What is no text. */
  base64?: string;
  /** bytes of the whole */
  size: number;
  isCut: boolean;
}

/** The first bytes of a payload, as text where all of it is. */
export function shownBytes(bytes: Uint8Array, most: number): Payload {
  const isCut = bytes.length > most;
  const shown = { size: bytes.length, isCut };
  const part = Buffer.from(bytes.subarray(0, most));
  if (!isUtf8(bytes)) return { base64: part.toString('base64'), ...shown };
  const text = part.toString('utf8');
  // A character at the end may be cut in two.
  return { text: isCut ? text.replace(/\uFFFD$/, '') : text, ...shown };
}

/** The same of a text, or of base64, that the API gave. @param size bytes of the whole */
export function shownText(body: string, encoding: 'base64' | undefined, size: number, most: number): Payload {
  const shown = shownBytes(Buffer.from(body, encoding ?? 'utf8'), most);
  return { ...shown, size, isCut: shown.isCut || shown.size < size };
}
