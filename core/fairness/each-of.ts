// One task for each of many, only so many at a time.
import pMap from 'p-map';

/**
 * Runs `work` for each item. A failure stops none of the others, so that one bad item holds up nothing; after as many failures as
 * run at a time nothing more begins: what all of them need is away then.
 * @throws the first failure, when everything that began has ended
 */
export async function eachOf<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  await pMap(
    items,
    async (item) => {
      if (failures.length >= concurrency) return;
      await work(item).catch((error: unknown) => failures.push(error));
    },
    { concurrency },
  );
  if (failures.length > 0) throw failures[0];
}
