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
