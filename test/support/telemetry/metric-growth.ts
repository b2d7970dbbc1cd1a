// What the metrics of a process have grown by since a moment, and the waits for it.
import { expect } from 'chai';
import { type Scrape, scrape } from './scrape.ts';
import { until } from '../until.ts';

/** A metric with labels; of others the sum is taken. */
export type Series = [name: string, labels: Record<string, string>];

/** What is done, the series that grow by it, and how it is done. */
export type Action = [what: string, series: Series[], action: () => Promise<unknown>];

export class MetricGrowth {
  readonly #port: number;
  readonly #began: Scrape;

  private constructor(port: number, began: Scrape) {
    this.#port = port;
    this.#began = began;
  }

  static async since(port: number): Promise<MetricGrowth> {
    return new MetricGrowth(port, await scrape(port));
  }

  async of([name, labels]: Series): Promise<number> {
    const now = await scrape(this.#port);
    return (now.value(name, labels) ?? 0) - (this.#began.value(name, labels) ?? 0);
  }

  grown(series: Series): Promise<true> {
    return until(`${series[0]} ${JSON.stringify(series[1])} to grow`, async () => (await this.of(series)) > 0);
  }

  /** Waits until the metrics are so. */
  shown(what: string, isSo: (value: Scrape['value']) => boolean): Promise<true> {
    return until(what, async () => isSo((await scrape(this.#port)).value));
  }
}

/** A test of each action. Its series grow by it alone, so they have not grown before. @param growth once it is known */
export function moves(actions: Action[], growth: () => MetricGrowth): void {
  for (const [what, all, action] of actions) {
    it(what, async () => {
      for (const series of all) expect(await growth().of(series), `${series[0]}, before it is done`).to.equal(0);
      await action();
      for (const series of all) await growth().grown(series);
    });
  }
}
