// Functions of the platform that need nothing of the host.
import type { Part } from './part.ts';

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
