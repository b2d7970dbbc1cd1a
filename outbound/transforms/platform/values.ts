// What every part of the platform is made of, and the functions that need nothing of the host.

/**
 * A question's answer: bytes, or what JSON can hold.
 * @throws an error whose name and message go to the code that asked
 */
export type Operation = (args: readonly unknown[], bytes: Uint8Array, seed: EventSeed) => unknown;

export interface Part {
  mentioned: RegExp;
  /** Text of a function (call, define), run inside the sandbox. */
  script: string;
  operations: Readonly<Record<string, Operation>>;
}

export interface EventSeed {
  eventId: string;
  /** How often bytes were drawn for this event. */
  draws: number;
}

export class RangeProblem extends Error {
  override readonly name = 'RangeError';
}

export function textOf(value: unknown, most = Number.POSITIVE_INFINITY): string {
  if (typeof value !== 'string') throw new TypeError('The argument must be a string');
  if (value.length > most) throw new RangeProblem(`The text has more than ${most} characters`);
  return value;
}

export const values: Part = {
  mentioned: /\b(?:structuredClone|queueMicrotask|fromAsync)\b/,
  script: `(call, define) => {
    define('queueMicrotask', (job) => { Promise.resolve().then(job); });
    define('fromAsync', async (items, map) => {
      const all = [];
      for await (const item of typeof items?.[Symbol.asyncIterator] === 'function' ? items : Array.from(items))
        all.push(map === undefined ? item : await map(item, all.length));
      return all;
    }, Array);
    const fail = (value) => {
      const error = new Error((typeof value === 'symbol' ? 'A symbol' : 'A function') + ' cannot be cloned');
      error.name = 'DataCloneError';
      throw error;
    };
    define('structuredClone', (whole) => {
      const known = new Map();
      const clone = (value) => {
        if (typeof value === 'function' || typeof value === 'symbol') return fail(value);
        if (typeof value !== 'object' || value === null || typeof value.valueOf?.() === 'number' && !(value instanceof Date)) return value;
        if (known.has(value)) return known.get(value);
        const keep = (copy) => (known.set(value, copy), copy);
        if (value instanceof Date) return keep(new Date(value.getTime()));
        if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
        if (value instanceof ArrayBuffer) return keep(value.slice(0));
        if (ArrayBuffer.isView(value)) return keep(value.constructor.from ? value.slice() : new DataView(value.buffer.slice(0), value.byteOffset, value.byteLength));
        if (value instanceof Map) {
          const copy = keep(new Map());
          for (const [key, member] of value) copy.set(clone(key), clone(member));
          return copy;
        }
        if (value instanceof Set) {
          const copy = keep(new Set());
          for (const member of value) copy.add(clone(member));
          return copy;
        }
        if (value instanceof Error) {
          const copy = keep(new (globalThis[value.name] ?? Error)(value.message));
          if ('cause' in value) copy.cause = clone(value.cause);
          return copy;
        }
        const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
        for (const [key, member] of Object.entries(value)) copy[key] = clone(member);
        return copy;
      };
      return clone(whole);
    });
  }`,
  operations: {},
};
