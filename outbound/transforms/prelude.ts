/**
 * Runs first in every context, and makes a transform a pure function of its event, so that a retry gives the same
 * bytes: the clock stands still at the time of receipt, and random numbers follow from the event's id. Gives a function
 * that sets both. It is short because the parsing of it is paid for every event.
 */
export const CLOCK = `(() => {
  const { construct } = Reflect, RealDate = Date, define = Object.defineProperty;
  let now = 0, state = 0;
  function FixedDate(...parts) {
    if (new.target === undefined) return new RealDate(now).toString();
    return construct(RealDate, parts.length === 0 ? [now] : parts, new.target);
  }
  const hide = (object, name, value) => define(object, name, { value, writable: true, configurable: true });
  define(FixedDate, 'name', { value: 'Date' });
  define(FixedDate, 'prototype', { value: RealDate.prototype, writable: false });
  hide(FixedDate, 'now', () => now);
  hide(FixedDate, 'parse', RealDate.parse);
  hide(FixedDate, 'UTC', RealDate.UTC);
  hide(RealDate.prototype, 'constructor', FixedDate);
  hide(globalThis, 'Date', FixedDate);
  hide(Math, 'random', () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  });
  delete globalThis.WeakRef;
  delete globalThis.FinalizationRegistry;
  return (time, seed) => { now = time; state = seed; };
})()`;

/** No new members on what all objects inherit: for a context that is used again, after its library is loaded. */
export const SEAL = `for (const name of Reflect.ownKeys(globalThis)) {
  const prototype = typeof globalThis[name] === 'function' ? globalThis[name].prototype : undefined;
  if (typeof prototype === 'object' && prototype !== null) Object.preventExtensions(prototype);
}`;

/** What reads results and errors. It lives in a context apart, so that a transform cannot change it. */
export const HELPERS = `({
  /**
   * A letter for what a result is (nothing, text, JSON) and its JSON. print: shows numbers that a double does not hold.
   */
  output(value, print) {
    if (value === undefined || value === null) return 'N';
    const text = JSON.stringify(value, print && ((_key, member) => print(member)));
    if (text === undefined) return 'N';
    return (typeof value === 'string' ? 'T' : 'J') + text;
  },
  describe(error) {
    const read = (type, key) => {
      try {
        return typeof error[key] === type ? error[key] : null;
      } catch {
        return null;
      }
    };
    let place = null;
    try {
      const [line, column] = error.token.getPosition();
      if (typeof line === 'number' && typeof column === 'number') place = [line, column];
    } catch {}
    let message = read('string', 'message');
    if (message === null) message = typeof error === 'object' ? (JSON.stringify(error) ?? 'an object') : String(error);
    return JSON.stringify({
      name: read('string', 'name'),
      message: message.slice(0, 2000),
      stack: (read('string', 'stack') ?? '').slice(0, 8000),
      position: read('number', 'position'),
      place,
    });
  },
})`;
