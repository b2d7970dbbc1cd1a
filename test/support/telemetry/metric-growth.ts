// What the metrics of a process have grown by since a moment, and the waits for it.
import { type Scrape, scrape } from './scrape.ts';
import { until } from '../until.ts';

/** A metric with labels; of others the sum is taken. */
type Series = [name: string, labels: Record<string, string>];

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
}
