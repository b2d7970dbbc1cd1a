// Adds up what was counted, by group and step, and makes an answer of it. What was counted is gone through twice: the groups with most
// are found by one number each, and only these are added up by step.
import type { Queryable } from '../../connections/pool.ts';
import {
  type FigureAnswer,
  type FigureQuestion,
  type Figures,
  GROUP_TABLES,
  type Grouping,
  timeTexts,
} from './figure-series.ts';

/** Sums by what tells them apart inside of a group: a class of codes, a cause. */
export type Parts<Part> = Map<Part, number[]>;

interface Group<Part> {
  whole: Parts<Part>;
  /** By their beginning, ms since 1970. */
  steps: Map<number, Parts<Part>>;
}

export class FigureSums<Part> {
  readonly #weights = new Map<string, number>();
  /** Those with most. */
  readonly #shown = new Map<string, Group<Part>>();
  readonly #stepMs: number;
  readonly #length: number;

  /** @param step s @param length how many sums there are of a part */
  constructor(step: number, length: number) {
    this.#stepMs = step * 1000;
    this.#length = length;
  }

  /** First of all: @param weight decides which groups have most; those without any are left out. */
  weigh(id: string, weight: number): void {
    if (weight > 0) this.#weights.set(id, (this.#weights.get(id) ?? 0) + weight);
  }

  /** Then: chooses the groups that are added up. */
  choose(mostGroups: number): void {
    const most = [...this.#weights].sort(([oneId, one], [otherId, other]) => other - one || (oneId < otherId ? -1 : 1));
    for (const [id] of most.slice(0, mostGroups)) this.#shown.set(id, { whole: new Map(), steps: new Map() });
  }

  /**
   * At last, for each that was weighed; nothing is added to other groups.
   * @param id of the group
   * @param atMs when it was counted, ms since 1970
   * @param parts which part it is of a step, and of the whole time
   * @param counted a list with the numbers, from a place on
   */
  add(id: string, atMs: number, parts: { step: Part; whole: Part }, counted: readonly number[], from = 0): void {
    const group = this.#shown.get(id);
    if (!group) return;
    const step = gotten(group.steps, atMs - (atMs % this.#stepMs), () => new Map());
    this.#addTo(step, parts.step, counted, from);
    this.#addTo(group.whole, parts.whole, counted, from);
  }

  #addTo(parts: Parts<Part>, part: Part, counted: readonly number[], from: number): void {
    const sums = parts.get(part);
    if (!sums) parts.set(part, counted.slice(from, from + this.#length));
    else for (let i = 0; i < this.#length; i += 1) sums[i] = (sums[i] ?? 0) + (counted[from + i] ?? 0);
  }

  /**
   * The series of the groups with most, with their names; of a deleted record there is none.
   * @param read the figures of a step, or of the whole time
   */
  async answer(
    db: Queryable,
    { organizationId, groupBy }: FigureQuestion,
    read: (parts: Parts<Part>, isTotal: boolean) => Figures,
  ): Promise<FigureAnswer> {
    const names = await namesOf(db, organizationId, groupBy, [...this.#shown.keys()]);
    const text = timeTexts();
    const series = [...this.#shown].map(([id, { whole, steps }]) => ({
      id: id || null,
      name: names.get(id) ?? null,
      total: read(whole, true),
      points: [...steps]
        .sort(([one], [other]) => one - other)
        .map(([ms, parts]) => ({ at: text(ms), figures: read(parts, false) })),
    }));
    return { series, groups: this.#weights.size };
  }
}

function gotten<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

async function namesOf(
  db: Queryable,
  organizationId: string,
  groupBy: Grouping | null,
  ids: string[],
): Promise<Map<string, string>> {
  const table = groupBy === null ? undefined : GROUP_TABLES[groupBy];
  if (table === undefined) return new Map();
  const { rows } = await db.query<{ id: string; name: string }>(
    `select id, name from ${table} where organization_id = $1 and id = any($2::text[])`,
    [organizationId, ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
