// Writes an object while its content is made: what is small is one request, as it was made; of what is larger, each part is sent and
// forgotten. Either way the object appears, or replaces an existing one, at once and only when it is complete.
// Rules: WH-24, WH-48.
import { createHash } from 'node:crypto';
import type { FileSink } from '../../core/warehouse/file.ts';
import type { ObjectParts, StoreResult, Warehouses, WarehouseTarget } from './index.ts';
import { Pieces } from './pieces.ts';
import type { ObjectName, StoreProblem } from './store.ts';

/**
 * Of every part but the last. All stores take it: S3 wants 5 MiB at least, R2 the same size of all, Google a multiple of 256 KiB. With
 * batchBytes at its most, and a mapping that doubles it, a file has 16.
 */
export const PART_BYTES = 16 * 1024 * 1024;

/** The store has not taken it. */
export class NotStoredError extends Error {
  override readonly name = 'NotStoredError';
  readonly problem: StoreProblem;
  constructor(problem: StoreProblem) {
    super(problem.summary);
    this.problem = problem;
  }
}

/** What was stored. */
export interface StoredFile {
  key: string;
  /** Bytes. */
  size: number;
  /** In hex. */
  sha256: string;
}

export class ObjectWriter implements FileSink {
  readonly #warehouses: Pick<Warehouses, 'put' | 'begin'>;
  readonly #target: WarehouseTarget;
  readonly #object: ObjectName;
  readonly #timeoutMs: number;
  readonly #digest = createHash('sha256');
  readonly #pieces = new Pieces(PART_BYTES);
  #parts: ObjectParts | null = null;
  #size = 0;
  #latencyMs = 0;

  /** @param timeoutMs of each request */
  constructor(
    warehouses: Pick<Warehouses, 'put' | 'begin'>,
    target: WarehouseTarget,
    { timeoutMs, ...object }: ObjectName & { timeoutMs: number },
  ) {
    this.#warehouses = warehouses;
    this.#target = target;
    this.#object = object;
    this.#timeoutMs = timeoutMs;
  }

  /** Of the store, until now. */
  get latencyMs(): number {
    return Math.round(this.#latencyMs);
  }

  /** @throws NotStoredError */
  async write(bytes: Uint8Array): Promise<void> {
    this.#digest.update(bytes);
    this.#size += bytes.length;
    for (const part of this.#pieces.add(bytes)) {
      this.#parts ??= await this.#timed(this.#warehouses.begin(this.#target, this.#object, this.#timeoutMs));
      await this.#timed(this.#parts.send(part, this.#timeoutMs));
    }
  }

  /** Stores it. @param count of its rows @throws NotStoredError */
  async end(count: number): Promise<StoredFile> {
    const stored = { key: this.#object.key, size: this.#size, sha256: this.#digest.digest('hex') };
    const metadata = { count: String(count), sha256: stored.sha256 };
    const last = this.#pieces.rest();
    const whole = { ...this.#object, body: last, metadata };
    if (this.#parts === null) await this.#timed(this.#warehouses.put(this.#target, whole, this.#timeoutMs));
    else await this.#timed(this.#parts.complete(last, metadata, this.#timeoutMs));
    this.#parts = null;
    return stored;
  }

  /** Removes what was sent of an object that is not complete. Never rejects. */
  async abort(): Promise<void> {
    const parts = this.#parts;
    this.#parts = null;
    await parts?.abort(this.#timeoutMs);
  }

  async #timed<T>(call: Promise<StoreResult<T>>): Promise<T> {
    const began = performance.now();
    const result = await call;
    this.#latencyMs += performance.now() - began;
    if (!result.ok) throw new NotStoredError(result);
    return result.value;
  }
}
