// What a check found: one sentence, and where.

const MOST_IDS = 10;

export interface Problem {
  /** `lost`: an acknowledged event is neither delivered nor visibly failed. */
  kind: 'lost' | 'stuck' | 'wrong';
  what: string;
  count: number;
  /** The first of them. */
  ids: string[];
}

/** @returns no problem when there is no id */
export function problems(kind: Problem['kind'], what: string, ids: string[]): Problem[] {
  return ids.length === 0 ? [] : [{ kind, what, count: ids.length, ids: ids.slice(0, MOST_IDS) }];
}
